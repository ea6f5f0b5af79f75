import { assertEquals } from "@std/assert";
import type { ReceivedResponse, SendOptions } from "./send.ts";

/** Sends a request of a test. */
type Send = (method: string, path: string, options?: SendOptions) => Promise<ReceivedResponse>;

/** Gives the address in the Link header of a response; undefined on the last page. */
export function findNext({ headers }: ReceivedResponse): string | undefined {
  return /^<([^<>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
}

/** Reads a table page after page by page token; `meanwhile` runs before each page but the first. */
export async function readPages(
  send: Send,
  { table, body, token, meanwhile = async () => {} }: {
    readonly table: string;
    readonly body: unknown;
    readonly token?: string;
    readonly meanwhile?: (page: number) => Promise<unknown>;
  },
): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  let path: string | undefined = `/integration/tables/${table}/query`;
  for (let page = 1; path !== undefined; page++) {
    if (page > 1) await meanwhile(page);
    const headers = { prefer: "page-token, count=none" };
    const response: ReceivedResponse = await send("POST", path, {
      body,
      headers,
      ...(token !== undefined && { token }),
    });
    assertEquals(response.status, 200, response.text);
    assertEquals(response.body["page"], page);
    records.push(...response.body["records"] as Record<string, unknown>[]);
    path = findNext(response);
  }
  return records;
}

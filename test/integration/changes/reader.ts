import { applyChanges, type ChangesBody, type Copy } from "../../support/feeds.ts";
import type { ReceivedResponse, TestService } from "../../support/service.ts";

/** Asks a service for changes, as tenant 1. */
export interface Reader {
  readonly ask: (table: string, since: string, more?: string) => Promise<ReceivedResponse>;
  /** @throws {Error} when the answer is no 200 */
  readonly read: (table: string, since: string) => Promise<ChangesBody>;
  /** Follows until there is no more. */
  readonly follow: (table: string, since: string) => Promise<Copy>;
}

/** Opens a reader. */
export function openReader(service: Pick<TestService, "send">): Reader {
  function ask(table: string, since: string, more = "&limit=1000"): Promise<ReceivedResponse> {
    return service.send("GET", `/integration/tables/${table}/changes?since=${since}${more}`);
  }

  async function read(table: string, since: string): Promise<ChangesBody> {
    const { status, text, body } = await ask(table, since);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return body as unknown as ChangesBody;
  }

  async function follow(table: string, since: string): Promise<Copy> {
    const copy: Copy = new Map();
    for (let from = since;;) {
      const { changes, cursor, more } = await read(table, from);
      applyChanges(copy, changes);
      if (!more) return copy;
      from = cursor;
    }
  }

  return { ask, read, follow };
}

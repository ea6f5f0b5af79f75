import { writeCurl } from "../../describe/reference/write_curl.ts";

/** A query with nested groups that finds rows of each tenant of the demonstration. */
export const EXAMPLE_REQUEST = {
  method: "POST",
  path: "/integration/tables/orders/query",
  body: {
    filters: {
      and: [
        { field: "status", op: "in", value: ["placed", "paid"] },
        {
          or: [
            { field: "total", op: "gte", value: 500 },
            { field: "note", op: "is_not_null" },
          ],
        },
      ],
    },
    per_page: 3,
  },
};

/** Prints the example as a `curl` command to paste into a shell. */
export function printExample(
  { address, token }: { readonly address: string; readonly token: string },
): string {
  const { path, body } = EXAMPLE_REQUEST;
  const request = { method: "POST", path: path.slice(1), body } as const;
  return writeCurl(request, { address, token, short: true });
}

/** Prints the command that adds the service to Claude Code; other programs take address and header. */
export function printAgent(
  { address, token }: { readonly address: string; readonly token: string },
): string {
  return [
    `claude mcp add -t http rowgate ${address.replace(/\/$/, "")}/mcp`,
    `-H 'Authorization: Bearer ${token}'`,
  ].join(" ");
}

/** Prints a `curl` command that follows the changes of the same table until it is stopped. */
export function printFollowing(
  { address, token }: { readonly address: string; readonly token: string },
): string {
  const path = "integration/tables/orders/changes?since=now";
  return writeCurl({ method: "GET", path }, { address, token, short: true, stream: true });
}

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
  return [
    `curl -s ${address.replace(/\/$/, "")}${EXAMPLE_REQUEST.path}`,
    `-H 'Authorization: Bearer ${token}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(EXAMPLE_REQUEST.body)}'`,
  ].join(" ");
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
  return [
    `curl -sN '${address.replace(/\/$/, "")}/integration/tables/orders/changes?since=now'`,
    `-H 'Authorization: Bearer ${token}'`,
    "-H 'Accept: text/event-stream'",
  ].join(" ");
}

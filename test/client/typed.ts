// What the types of the client accept and what they reject. `deno check` is the test: a line that is
// marked as an error and accepted fails it.
import { createClient, type Place } from "../../src/client/client.ts";
import type { OrdersRecord, Tables } from "./tables.ts";

const client = createClient<Tables>({ url: "http://127.0.0.1:8080", token: "rg_x" });

/** Never called. */
export async function checkTypes(): Promise<void> {
  const page = await client.query("orders", {
    filters: {
      and: [
        { field: "status", op: "in", value: ["placed", "paid"] },
        { or: [{ field: "total", op: "gte", value: 5 }, { field: "note", op: "is_null" }] },
        { field: "ordered_on", op: "between", value: ["2026-01-01", "2026-01-31"] },
        { field: "note", op: "eq", value: null },
      ],
    },
    select: ["id", "status"],
    sort: [{ field: "total", direction: "desc" }],
  });
  // @ts-expect-error there are no records until success is checked
  page.records;
  if (!page.success) {
    const { status, path, matched } = page.error;
    const details: readonly [number, string | undefined, number | undefined] = [
      status,
      path,
      matched,
    ];
    throw new Error(details.join());
  }
  const id: number | undefined = page.records[0]?.id;
  const status: "draft" | "placed" | "paid" | "shipped" | "delivered" | "cancelled" | undefined =
    page.records[0]?.status;
  const total: number = page.total;
  // @ts-expect-error it was not selected
  page.records[0]?.note;
  const uncounted = await client.query("orders", {}, { count: false });
  // @ts-expect-error it was not counted
  if (uncounted.success) uncounted.total.toFixed();

  const all: AsyncGenerator<Pick<OrdersRecord, keyof OrdersRecord>> = client.records("orders");
  for await (const { note } of all) note?.length;
  const place: Place | undefined = undefined;
  for await (const changes of client.poll("orders", {}, { by: "modified_at", from: place })) {
    changes.records[0]?.total;
  }
  void [id, status, total];
}

/** Never called. */
export function checkErrors(): void {
  // @ts-expect-error no such table
  void client.query("order");
  // @ts-expect-error no such column
  void client.query("orders", { select: ["totl"] });
  // @ts-expect-error misspelt member
  void client.query("orders", { per_pages: 5 });
  // @ts-expect-error no such column in the sort
  void client.query("orders", { sort: [{ field: "totl" }] });
  // @ts-expect-error no such column in a condition
  void client.query("orders", { filters: { and: [{ field: "totl", op: "eq", value: 1 }] } });
  // @ts-expect-error no such operator
  void client.query("orders", { filters: { and: [{ field: "total", op: "equals", value: 1 }] } });
  // @ts-expect-error no such label
  void client.query("orders", { filters: { and: [{ field: "status", op: "eq", value: "gone" }] } });
  // @ts-expect-error eq takes no list
  void client.query("orders", { filters: { and: [{ field: "id", op: "eq", value: [1] }] } });
  // @ts-expect-error gt takes no null
  void client.query("orders", { filters: { and: [{ field: "id", op: "gt", value: null }] } });
  // @ts-expect-error between takes two values
  void client.query("orders", { filters: { and: [{ field: "id", op: "between", value: [1] }] } });
  // @ts-expect-error a group has one key
  void client.query("orders", { filters: { and: [], or: [] } });
  // @ts-expect-error the iterator numbers the pages
  void client.pages("orders", { page: 2 });
  // @ts-expect-error a poller has its own sort
  void client.poll("orders", { sort: [] }, { by: "modified_at" });
  // @ts-expect-error a feed has no filters
  void client.follow("orders", { filters: {} });
  // @ts-expect-error no such column to poll by
  void client.poll("orders", {}, { by: "changed" });

  void client.updateSingle("orders", { filters: { id: 1 }, fields: { note: null } });
  void client.updateBatch("orders", [{ filters: { id: 1 }, fields: { note: null } }]);
  // @ts-expect-error the key cannot be set
  void client.updateBatch("orders", [{ filters: { id: 1 }, fields: { id: 2 } }]);
  // @ts-expect-error the token creates no records
  void client.create("orders", [{ note: "x" }]);
  // @ts-expect-error the table is read-only
  void client.updateBulk("countries", { filters: { code: "DE" }, fields: { name: "D" } });
  // @ts-expect-error the key cannot be set
  void client.updateSingle("orders", { filters: { id: 1 }, fields: { id: 2 } });
  // @ts-expect-error the column cannot be null
  void client.updateSingle("orders", { filters: { id: 1 }, fields: { total: null } });
  // @ts-expect-error an update has no operators
  void client.updateSingle("orders", { filters: { and: [] }, fields: { note: "x" } });
  // @ts-expect-error fields are required
  void client.updateSingle("orders", { filters: { id: 1 } });
  // @ts-expect-error the types were printed for numbers
  void createClient<Tables>({ url: "", token: "", wideNumbers: true });
  // @ts-expect-error the types were printed for strings
  void createClient<WideTables>({ url: "", token: "" });
  void createClient<WideTables>({ url: "", token: "", wideNumbers: true });
  void createClient({ url: "", token: "", wideNumbers: true }).query("any", {
    filters: { and: [{ field: "a", op: "eq", value: 1 }] },
  });
}

interface WideTables {
  wide: { record: { id: string }; condition: never; wideNumbers: true };
}

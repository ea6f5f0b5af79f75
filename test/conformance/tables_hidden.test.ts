import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { DATABASE_KINDS } from "../support/database.ts";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { createTestService, type ReceivedResponse, type TestService } from "../support/service.ts";

const DEALS = "/integration/tables/deals";
const NAME = "secret_score";

/** Every place of every operation that takes a column's name, and names near it. */
function listRequests(): { method: string; path: string; body?: unknown }[] {
  const names = [NAME, "secret_scor", "secret_scores", "Secret_Score", "secret", "score"];
  const query = (body: unknown) => ({ method: "POST", path: `${DEALS}/query`, body });
  const updates = (body: unknown) =>
    ["single", "bulk"].map((kind) => ({ method: "PATCH", path: `${DEALS}/records/${kind}`, body }));
  const operators = ["eq", "gt", "like", "in", "between", "is_null", "is_not_null"];
  const values: Readonly<Record<string, unknown>> = { in: [7], between: [1, 99], like: "%" };
  return [
    { method: "GET", path: "/integration/tables" },
    { method: "GET", path: `${DEALS}/fields` },
    { method: "GET", path: "/integration/token" },
    query({ sort: [{ field: "fid" }], per_page: 200 }),
    ...names.flatMap((field) => [
      ...operators.map((op) => {
        const value = op.startsWith("is_") ? {} : { value: values[op] ?? 7 };
        return query({
          filters: { or: [{ field: "fid", op: "eq", value: 1 }, { field, op, ...value }] },
        });
      }),
      query({ filters: { and: [{ field, op: "nonsense", value: 7 }] } }),
      query({ select: ["fid", field] }),
      query({ sort: [{ field, direction: "desc" }] }),
      ...updates({ filters: { [field]: 7 }, fields: { title: "x" } }),
      ...updates({ filters: { fid: 1 }, fields: { [field]: 7 } }),
      ...updates({ filters: { fid: 1 }, fields: { title: "x", [field]: null } }),
      ...updates({ filters: { fid: 1, [field]: null }, fields: { fid: 2 } }),
    ]),
  ];
}

function contents({ status, headers, text }: ReceivedResponse): unknown {
  const kept = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  // Ids of tokens are random.
  return { status, kept, text: text.replace(/"token":\{"id":"[^"]*"/, "") };
}

for (const kind of DATABASE_KINDS) {
  describe(`Tables, a hidden column, ${kind}`, () => {
    const services: TestService[] = [];

    before(async () => {
      const { deals: _, ...others } = FIXTURE_POLICY.tables;
      const revoked = kind === "real" ? [{ tables: others }] : [];
      for (const policy of [FIXTURE_POLICY, { tables: others }, ...revoked]) {
        services.push(await createTestService(kind, { policy }));
      }
      const [, gone, unread] = services;
      await gone!.database.admin`alter table deals drop column secret_score`;
      if (unread === undefined) return;
      const columns = await unread.database.admin<{ list: string }[]>`
        select string_agg(quote_ident(attname), ', ') list from pg_attribute
        where attrelid = 'deals'::regclass and attnum > 0 and attname <> ${NAME}`;
      await unread.database.admin.unsafe(
        `revoke select on deals from rowgate_app; grant select (${
          columns[0]!.list
        }) on deals to rowgate_app`,
      );
    });
    before(async () => {
      // A server of its own has read the catalogue when it began.
      for (const service of services) {
        await service.database.admin`notify rowgate_catalogue`;
        while ((await service.send("GET", `${DEALS}/fields`)).text.includes(`"${NAME}"`)) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    });
    after(() => Promise.all(services.map((service) => service.close())));

    it("is rejected like one that is not there, wherever it is named, byte by byte [T18] [T23]", async () => {
      for (const { method, path, body } of listRequests()) {
        const options = body === undefined ? {} : { body };
        const [hidden, gone, ...unread] = await Promise.all(
          services.map((service) => service.send(method, path, options)),
        );
        for (const other of [gone!, ...unread]) {
          assertEquals(
            contents(hidden!),
            contents(other),
            `${method} ${path} ${JSON.stringify(body)}`,
          );
        }
      }
    });

    it("is in no log line and no metric [T23]", async () => {
      const [service] = services;
      for (const { method, path, body } of listRequests()) {
        await service!.send(method, path, body === undefined ? {} : { body });
      }
      const { text } = await service!.send("GET", "/metrics");
      assert(text.length > 1000);
      assert(!text.includes("secret"), "a metric names it");
      assert(!JSON.stringify(service!.observations).includes("secret"), "a log line names it");
    });
  });
}

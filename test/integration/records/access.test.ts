import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { ACCESS } from "../../support/access.ts";
import {
  createTestService,
  type ReceivedResponse,
  type TestService,
} from "../../support/service.ts";

/** The service of every day, and those with other rights: the same database for all, three times. */
const SERVICES: readonly {
  readonly name: string;
  readonly environment: Record<string, string>;
  readonly rights: readonly string[];
}[] = [
  { name: "every day", environment: {}, rights: [] },
  {
    name: "row level security forced",
    environment: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
    rights: ["access_rls.sql"],
  },
  { name: "the least rights", environment: {}, rights: ["access_least.sql"] },
  {
    name: "both",
    environment: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
    rights: ["access_rls.sql", "access_least.sql"],
  },
];

interface Field {
  readonly name: string;
  readonly operators: readonly string[];
  readonly writable: boolean;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** One of each kind. */
const OPERATORS = new Set(["eq", "between", "like", "not_in", "is_null"]);

describe("the same requests, with row level security forced and with the least rights", () => {
  const services: TestService[] = [];

  before(async () => {
    for (const { environment, rights } of SERVICES) {
      const service = await createTestService("real", { environment });
      services.push(service);
      // Under `--access` every database of the tests has these rights already.
      for (const file of rights.filter((file) => file !== `access_${ACCESS}.sql`)) {
        const text = await readFile(new URL(`../../support/${file}`, import.meta.url), "utf8");
        await service.database.admin.unsafe(text);
      }
      // Without the setting its policy hides every row, so that it is not served.
      await service.database.admin`drop table guarded`;
      // Times that a trigger takes would differ by themselves.
      await service.database.admin`alter table deals disable trigger deals_modified`;
    }
  });
  after(() => Promise.all(services.map((service) => service.close())));

  it("gives the same bytes for every table, field, operator and update [TE19]", async () => {
    const asked = await listRequests(services[0]!);
    assert(asked.length > 300, String(asked.length));
    for (const request of asked) {
      const [plain, ...others] = await Promise.all(
        services.map((service) => ask(service, request)),
      );
      for (const [at, other] of others.entries()) {
        const what = `${SERVICES[at + 1]!.name}: ${JSON.stringify(request)}`;
        assertEquals(contents(other), contents(plain!), what);
      }
    }
  });
});

function ask(service: TestService, { method, path, body }: Asked): Promise<ReceivedResponse> {
  return service.send(method, path, body === undefined ? {} : { body });
}

function contents({ status, headers, text }: ReceivedResponse): string {
  const kept = [...headers].filter(([name]) => name !== "x-request-id");
  return JSON.stringify({ status, kept, text });
}

async function listRequests(service: TestService): Promise<Asked[]> {
  const list = (await service.send("GET", "/integration/tables")).body["tables"] as Field[];
  const names = list.map(({ name }) => name);
  const closed = ["user_passwords", "internal_settings", "ungranted", "open_deals", "nothing"];
  const asked: Asked[] = [{ method: "GET", path: "/integration/tables" }];
  for (const name of [...names, ...closed]) {
    const path = `/integration/tables/${name}`;
    const described = await service.send("GET", `${path}/fields`);
    asked.push({ method: "GET", path: `${path}/fields` });
    const fields = (described.body["fields"] ?? []) as Field[];
    // Of the table that has all types each fifth will do: what differs is never the type.
    const chosen = fields.filter((_, at) => fields.length < 30 || at % 5 === 0);
    asked.push(...chosen.flatMap((field) => askOfField(field, fields[0]!.name, path)));
    asked.push({ method: "POST", path: `${path}/query`, body: { per_page: 200 } });
    asked.push({ method: "POST", path: `${path}/query`, body: { select: ["secret_score"] } });
  }
  return asked;
}

/** Sorted by a key, for an order that no plan decides. */
function askOfField({ name, operators, writable }: Field, key: string, path: string): Asked[] {
  const sort = [{ field: key }];
  const query = (filters: unknown) => ({
    method: "POST",
    path: `${path}/query`,
    body: { filters, sort, per_page: 3 },
  });
  const values: Readonly<Record<string, unknown>> = {
    in: ["1", null],
    not_in: ["1"],
    between: ["1", "2"],
  };
  const queries = operators.filter((op) => OPERATORS.has(op)).map((op) =>
    query({
      and: [{ field: name, op, ...(op.startsWith("is_") ? {} : { value: values[op] ?? "1" }) }],
    })
  );
  if (!writable) return queries;
  const updates = ["single", "bulk"].flatMap((kind) =>
    [null, "1"].map((value) => ({
      method: "PATCH",
      path: `${path}/records/${kind}`,
      body: { filters: { [key]: key === "tenant_id" ? 1 : "1" }, fields: { [name]: value } },
    }))
  );
  return [...queries, ...updates, query({ and: [] })];
}

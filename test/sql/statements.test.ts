import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Fragment, Sql } from "../../src/database/postgres/driver.ts";
import type { Compile } from "../../src/database/postgres/database.ts";
import type { Cascade, SqlText, Table } from "../../src/catalogue/catalogue.ts";
import { planChanges } from "../../src/records/plan/changes_plan.ts";
import type { Idempotency } from "../../src/records/plan/idempotency.ts";
import type { Predicate } from "../../src/records/plan/predicate.ts";
import { planDelete } from "../../src/records/plan/delete_plan.ts";
import { planCreate } from "../../src/records/plan/create_plan.ts";
import { planUpsert } from "../../src/records/plan/upsert_plan.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate, type UpdatePlan } from "../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseRecordsRequest, parseUpsertRequest } from "../../src/request/records_request.ts";
import { parseDeleteRequest, parseUpdateRequest } from "../../src/request/update_request.ts";
import { compileLock, compileUpdateSingle } from "../../src/records/sql/update_single.ts";
import { compileChanges } from "../../src/records/sql/changes.ts";
import {
  compileChangesMoment,
  compileChangesSnapshot,
} from "../../src/records/sql/changes_snapshot.ts";
import { compileLookUps } from "../../src/records/sql/look_ups.ts";
import { compileCreate } from "../../src/records/sql/create.ts";
import { groupAlike, groupRecords } from "../../src/records/sql/record_groups.ts";
import { compileFindMatches, compileUpdateFound } from "../../src/records/sql/upsert.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../src/records/sql/update_bulk.ts";
import { compileReturnedLater } from "../../src/records/sql/returned.ts";
import { compileUpdateByKey } from "../../src/records/sql/update_by_key.ts";
import { printRecord } from "../../src/access/tokens/token_record.ts";
import { compileWatch } from "../../src/records/sql/watch_changes.ts";
import {
  compileAuditWithRules,
  compileDecision,
  compileUpdateWithRules,
} from "../../src/records/sql/update_with_rules.ts";
import { collapseSpace, record } from "../../src/database/postgres/statements.ts";
import { SCHEMA_STATEMENTS } from "../../src/database/schema/statements.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { makeAccess, makeColumn, makeTable } from "../support/table.ts";
import { compareGolden } from "./golden.ts";

const ACCESS = makeAccess();
const TABLE = makeTable([
  makeColumn("status", "text"),
  makeColumn("amount", "numeric"),
  makeColumn("day", "other", { type: "date" }),
  makeColumn("tags", "array", {
    type: "text[]",
    baseType: "text[]",
    elementKind: "text",
    container: "array",
    cast: "text[]" as never,
  }),
]);
const AUDITED = { requestId: "r", schema: "app", operation: "update_single" };
const KEPT = {
  idempotency: { tokenId: "t", key: "k", request: "00".repeat(32), hours: 24 },
} as const;
const SETTINGS = [{ name: "app.tenant_id", value: "1" }];

/** An update with everything that `If-Match` and `return=representation` add. */
function versioned(options: Parameters<typeof update>[1]): UpdatePlan {
  const columns = [...TABLE.columns.values()];
  return {
    ...update(UPDATE, options),
    expected: ["ab"],
    returned: { columns, wideNumbersAsText: false, maxBytes: 1000, versioned: true },
    versionKey: "00",
  };
}

interface Preferred {
  readonly count?: boolean;
  readonly wide?: boolean;
  readonly pageToken?: boolean;
  readonly table?: Table;
}

function select(body: object, preferences: Preferred = {}) {
  return planQuery(parseQueryRequest(body), {
    table: preferences.table ?? TABLE,
    access: ACCESS,
    count: preferences.count ?? true,
    wideNumbersAsText: preferences.wide ?? false,
    pageToken: preferences.pageToken ?? false,
  });
}

/** A page behind a row with these values. */
function behind(body: object, after: readonly (string | null)[], preferences: Preferred = {}) {
  const plan = select(body, { ...preferences, pageToken: true });
  return { ...plan, continued: { ...plan.continued!, after } };
}

function update(body: object, { maxAffected, pinnable = true, audited, idempotency }: {
  maxAffected?: number;
  pinnable?: boolean;
  audited?: typeof AUDITED;
  idempotency?: Idempotency;
} = {}) {
  const table = { ...TABLE, pinnable };
  const options = { table, access: ACCESS, maxAffected, rollback: false, audited, idempotency };
  return planUpdate(parseUpdateRequest(body), options);
}

/** A delete; other rows may go with it. */
function remove(filters: object, { maxAffected, returns = false, table = TABLE }: {
  maxAffected?: number;
  returns?: boolean;
  table?: Table;
} = {}): UpdatePlan {
  const options = { table, access: ACCESS, maxAffected, rollback: false, audited: AUDITED };
  const plan = planDelete(parseDeleteRequest({ filters }), options);
  if (!returns) return plan;
  const columns = [...table.columns.values()];
  const returned = { columns, wideNumbersAsText: false, maxBytes: 1000, versioned: true };
  return { ...plan, expected: ["ab"], versionKey: "00", returned };
}

/** An insert of records that name the same columns. */
function createOf(sql: Sql, given: {
  table?: Table;
  records?: readonly object[];
  settings?: typeof SETTINGS;
  representation?: boolean;
}) {
  const {
    table = TABLE,
    records = [{ status: "open", day: "2026-01-31" }, { day: "2026-02-01", status: null }],
    settings = [],
    representation = false,
  } = given;
  const options = { table, access: ACCESS, rollback: false, representation };
  const request = parseRecordsRequest({ records });
  const plan = planCreate(request, { ...options, wideNumbersAsText: false });
  const [group] = groupRecords(plan);
  return compileCreate(sql, plan, { group: group!, settings });
}

/** The statements of an upsert by the column `day`. */
function upsertOf(sql: Sql, step: "find" | "update", table: Table = TABLE): Fragment {
  const matchKeys = [[table.columns.get("day")!]];
  const options = { access: ACCESS, rollback: false, representation: true };
  const records = [{ day: "2026-01-31", status: "open", id: 7 }];
  const request = parseUpsertRequest({ match: ["day"], records });
  const plan = planUpsert(request, {
    ...options,
    table: { ...table, matchKeys },
    wideNumbersAsText: false,
  });
  return step === "find"
    ? compileFindMatches(sql, plan, plan.records)
    : compileUpdateFound(sql, plan, groupAlike(plan.records)[0]!);
}

/** The text of a statement as it is written, before `qualify` adds the schemas. */
function printAsSent(compile: (sql: Sql) => Fragment): string {
  return collapseSpace(record(compile as Compile).text.trim());
}

const FILTERS = {
  or: [
    {
      and: [{ field: "status", op: "eq", value: "open" }, { field: "id", op: "in", value: [1, 2] }],
    },
    { and: [] },
    { field: "amount", op: "between", value: [1, 2] },
    { field: "status", op: "not_like", value: "a%" },
    { field: "status", op: "not_in", value: ["x", null] },
    { field: "day", op: "gte", value: "yesterday" },
    { field: "tags", op: "in", value: ["{a}"] },
    { field: "status", op: "is_not_null" },
  ],
};
const UPDATE = {
  filters: { id: 1, status: null },
  fields: { amount: 1.5, tags: ["a"], day: null },
};

const FEED = {
  plan: planChanges({ fields: ["status", "tags"], limit: 200 }, { table: TABLE, access: ACCESS }),
  feed: 7,
  anchor: ["1000", "5", "1790000000000000"],
  measured: false,
  settings: [],
} as const;
const SEEN = { next: "1001", running: ["990", "995"] };
const PARTIAL = {
  snapshot: { next: "2001", running: [] },
  place: { xid: "1500", seq: "9", ordinal: "3" },
};

const STATEMENTS: Record<string, (sql: Sql) => Fragment> = {
  "a query for everything": (sql) => compileQuery(sql, select({})),
  "a query with filters, select and sort": (sql) =>
    compileQuery(
      sql,
      select({
        filters: FILTERS,
        select: ["status", "id"],
        sort: [{ field: "amount", direction: "desc" }, { field: "status" }],
        page: 3,
      }),
    ),
  "a query with the operators of searches": (sql) =>
    compileQuery(
      sql,
      select({
        filters: {
          and: [
            { field: "status", op: "ilike", value: "%Open%" },
            { field: "status", op: "not_ilike", value: "%x%" },
            { field: "status", op: "starts_with", value: "o" },
            { field: "tags", op: "contains", value: ["a", "b"] },
            { field: "tags", op: "contains", value: "c" },
          ],
        },
        select: ["id"],
      }),
    ),
  "a query for a deep page by key": (sql) =>
    compileQuery(
      sql,
      select({
        filters: { and: [{ field: "id", op: "gt", value: 9 }] },
        select: ["status"],
        sort: [{ field: "id", direction: "desc" }],
        page: 1001,
        per_page: 1,
      }),
    ),
  "a query followed by a page token": (sql) =>
    compileQuery(sql, select({ select: ["status"], per_page: 2 }, { pageToken: true })),
  "a query behind a row, by the key": (sql) =>
    compileQuery(sql, behind({ select: ["status"] }, ["7"], { count: false })),
  "a query behind a row, zone by zone": (sql) =>
    compileQuery(
      sql,
      behind(
        {
          filters: { and: [{ field: "status", op: "eq", value: "open" }] },
          select: ["status"],
          sort: [{ field: "day", direction: "desc" }, { field: "amount" }],
        },
        ["2026-01-31", "1.50", "7"],
        { table: { ...TABLE, orderedByIndex: new Set([TABLE.columns.get("day")!.identifier]) } },
      ),
    ),
  "a query behind a row, in one reading": (sql) =>
    compileQuery(sql, behind({ select: ["id"], sort: [{ field: "amount" }] }, [null, "7"])),
  "a query behind a row, with a tenant setting": (sql) =>
    compileQuery(sql, behind({ select: ["id"] }, ["7"]), SETTINGS),
  "a query without count, wide numbers as text": (sql) =>
    compileQuery(
      sql,
      select({ select: ["id", "amount", "status"] }, { count: false, wide: true }),
    ),
  "look-ups by key in a batch": (sql) =>
    compileLookUps(
      sql,
      [1, 2, 3].map((value) =>
        select({ filters: { and: [{ field: "id", op: "eq", value }] }, select: ["id", "status"] })
      ),
    ),
  "a query with a tenant setting": (sql) =>
    compileQuery(sql, select({ select: ["id"], sort: [{ field: "id" }] }), SETTINGS),
  "a single update by key": (sql) => compileUpdateByKey(sql, update(UPDATE)),
  "a single update by key that expects a version and returns its row": (sql) =>
    compileUpdateByKey(sql, versioned(KEPT)),
  "a single update that expects a version and returns its row": (sql) =>
    compileUpdateSingle(sql, versioned({ audited: AUDITED })),
  "the row of an update at the end of its transaction": (sql) =>
    compileReturnedLater(sql, versioned({}), '[["1"]]'),
  "a record with its version": (sql) =>
    compileQuery(sql, {
      ...select({ filters: { and: [{ field: "id", op: "eq", value: 1 }] }, per_page: 2 }),
      versioned: true,
      versionKey: "00",
    }),
  "a single update by key with a tenant setting and an audit": (sql) =>
    compileUpdateByKey(sql, update(UPDATE, { audited: AUDITED }), SETTINGS),
  "a single update by key with an idempotency key": (sql) =>
    compileUpdateByKey(sql, update(UPDATE, { audited: AUDITED, ...KEPT }), SETTINGS),
  "a single update with an idempotency key": (sql) =>
    compileUpdateSingle(sql, update(UPDATE, { maxAffected: 1, ...KEPT }), SETTINGS),
  "a bulk update with an idempotency key": (sql) =>
    compileUpdateBulk(sql, update(UPDATE, { audited: AUDITED, ...KEPT })),
  "a bulk update with max-affected and an idempotency key": (sql) =>
    compileUpdateBulk(sql, update(UPDATE, { maxAffected: 5, audited: AUDITED, ...KEPT })),
  "a single update": (sql) => compileUpdateSingle(sql, update(UPDATE)),
  "a single update of a table without row versions": (sql) =>
    compileUpdateSingle(sql, update(UPDATE, { pinnable: false, maxAffected: 1 }), SETTINGS),
  "a bulk update": (sql) => compileUpdateBulk(sql, update(UPDATE)),
  "a bulk update with max-affected": (sql) =>
    compileUpdateBulk(sql, update(UPDATE, { maxAffected: 5 }), SETTINGS),
  "a single update with an audit": (sql) =>
    compileUpdateSingle(sql, update(UPDATE, { audited: AUDITED })),
  "a single update with an audit, where the transaction has locked nothing": (sql) =>
    compileUpdateSingle(
      sql,
      { ...update(UPDATE, { maxAffected: 1, audited: AUDITED }), readsOnly: true },
      SETTINGS,
    ),
  "a bulk update with an audit": (sql) =>
    compileUpdateBulk(sql, update(UPDATE, { audited: AUDITED }), SETTINGS),
  "a bulk update with max-affected and an audit": (sql) =>
    compileUpdateBulk(sql, update(UPDATE, { maxAffected: 5, audited: AUDITED })),
  "a delete by key": (sql) => compileUpdateByKey(sql, remove({ id: 1 })),
  "a single delete that expects a version and returns its row": (sql) =>
    compileUpdateSingle(sql, remove({ status: "open" }, { returns: true })),
  "a bulk delete": (sql) =>
    compileUpdateBulk(sql, remove({ status: "open" }, { maxAffected: 5 }), SETTINGS),
  "a soft delete by key that returns its row": (sql) => {
    const column = TABLE.columns.get("day")!;
    const table = { ...TABLE, softDelete: { column, value: "now" as const } };
    return compileUpdateByKey(sql, remove({ id: 1 }, { returns: true, table }));
  },
  "a delete of a table with rewrite rules": (sql) =>
    compileUpdateWithRules(sql, remove({ id: 1 }), 1),
  "a create": (sql) => createOf(sql, { settings: SETTINGS }),
  "a create that returns rows in a session of another zone": (sql) =>
    createOf(sql, { representation: true, table: { ...TABLE, timeZone: "Europe/Berlin" } }),
  "the look for the rows of an upsert": (sql) => upsertOf(sql, "find"),
  "the update of an upsert that returns rows": (sql) => upsertOf(sql, "update"),
  "the decision before rewrite rules": (sql) => compileDecision(sql, update(UPDATE)),
  "an update of a table with rewrite rules": (sql) =>
    compileUpdateWithRules(sql, update(UPDATE), 1),
  "the changes since a position": (sql) => compileChanges(sql, FEED, { seen: SEEN }),
  "the changes since a page, measured, with a tenant setting": (sql) =>
    compileChanges(
      sql,
      { ...FEED, measured: true, settings: SETTINGS },
      { seen: SEEN, partial: PARTIAL },
    ),
  "the first rows of a feed": (sql) => compileChangesSnapshot(sql, FEED, undefined),
  "the next rows of a feed": (sql) => compileChangesSnapshot(sql, FEED, ["41"]),
  "the lock of a transaction": (sql) => compileLock(sql, update(UPDATE)),
};
const AUDIT_TITLE = "the audit of an update of a table with rewrite rules";

/** Rows of `lines` belong to those of `orders`, which have the tenant column. */
const LINES = makeTable([makeColumn("order_id", "int4"), makeColumn("quantity", "int4")], {
  name: "lines",
  identifier: `"app"."lines"` as SqlText,
  tenant: undefined,
  tenancy: {
    columns: [TABLE.tenant!],
    via: [{
      table: "orders",
      identifier: `"app"."orders"` as SqlText,
      source: `only "app"."orders"` as SqlText,
      columns: ["order_id"],
      pairs: [{ from: `"order_id"` as SqlText, to: `"no"` as SqlText }],
    }],
  },
});
const updateLines = (filters: object, fields: object) =>
  planUpdate(parseUpdateRequest({ filters, fields }), {
    table: LINES,
    access: ACCESS,
    maxAffected: undefined,
    rollback: false,
  });
/** Lines refer to deals, too, and would be deleted with them. */
const OF_LINES_BY_DEAL: Cascade = {
  table: "lines",
  path: [{
    source: `only "app"."lines"` as SqlText,
    pairs: [{ from: `"quantity"` as SqlText, to: `"id"` as SqlText }],
  }],
  tenancy: LINES.tenancy,
};
const OF_LINES: Record<string, (sql: Sql) => Fragment> = {
  "a query of a table that belongs to another": (sql) =>
    compileQuery(sql, select({ sort: [{ field: "quantity" }] }, { table: LINES })),
  "a single update of a table that belongs to another": (sql) =>
    compileUpdateSingle(sql, updateLines({ quantity: 1 }, { quantity: 2 })),
  "an update by key to another parent": (sql) =>
    compileUpdateByKey(sql, updateLines({ id: 1 }, { order_id: 2 })),
  "a bulk update of a table that belongs to another": (sql) =>
    compileUpdateBulk(sql, updateLines({ quantity: 1 }, { quantity: 2 })),
  "a single delete that may reach rows of another tenant": (sql) =>
    compileUpdateSingle(
      sql,
      remove({ id: 1 }, { table: { ...TABLE, cascades: [OF_LINES_BY_DEAL] } }),
    ),
  "a bulk delete that may reach rows of another tenant": (sql) =>
    compileUpdateBulk(
      sql,
      remove({ id: 1 }, { maxAffected: 5, table: { ...TABLE, cascades: [OF_LINES_BY_DEAL] } }),
    ),
  "a create in a table that belongs to another": (sql) =>
    createOf(sql, { table: LINES, records: [{ order_id: 1, quantity: 2 }] }),
};

describe("Statements", () => {
  let database: TestDatabase;

  before(async () => {
    database = await createTestDatabase("real", "empty");
    for (const text of SCHEMA_STATEMENTS) await database.admin.unsafe(text);
    await database.admin.unsafe(`create schema app;
      create table app.deals (id int8 primary key, tenant_id int4 not null, status text,
        amount numeric, day date, tags text[]);
      create table app.orders (no int4 primary key, tenant_id int4 not null);
      create table app.lines (id int8 primary key, order_id int4 references app.orders,
        quantity int4)`);
  });
  after(() => database.drop());

  for (const [title, compile] of Object.entries(STATEMENTS)) {
    it(`match their golden file: ${title} [Q68] [U21] [S8]`, async () => {
      await compareGolden(title, printAsSent(compile));
    });

    it(`take only text and times as parameters: ${title} [D1]`, async () => {
      const { types } = await database.admin.unsafe(printAsSent(compile)).describe();
      const allowed = [25, 1009, 1082, 1083, 1114, 1184, 1266]; // text, text[], and P33
      assertEquals(types.filter((type) => !allowed.includes(type)), []);
    });

    it(`compare the tenant on every table reference: ${title} [S8]`, () => {
      const references = printAsSent(compile).split(/"app"\."deals" (?:as )?"\$row"/).slice(1);
      const checked =
        /^ \(.*?\) select .*? returning case when "\$row"\."tenant_id" = \$\d+::text::"pg_catalog"\."int4" then true/;
      const scoped =
        /^( set .*?| using "\$counted")? where "\$row"\."tenant_id" = \$\d+::text::"pg_catalog"\."int4"/;
      const pinned =
        /^(?: set .*? from| using) .*? and "\$row"\."tenant_id" = \$\d+::text::"pg_catalog"\."int4"/;
      assert(references.length > 0);
      const patterns = [scoped, pinned, checked];
      assertEquals(references.filter((rest) => !patterns.some((each) => each.test(rest))), []);
    });
  }

  it("have no row of parameters alone [M15]", () => {
    for (const [title, compile] of Object.entries(STATEMENTS)) {
      const rows = [...printAsSent(compile).matchAll(/\brow\(((?:[^()]|\([^()]*\))*)\)/g)];
      const alone = rows.filter(([, members = ""]) => !members.includes(`"$row".`));
      assertEquals(alone.map(([row]) => `${title}: ${row}`), []);
    }
  });

  it("show no planner two tenants for one row [M16]", () => {
    const plan = update(UPDATE);
    const column = makeColumn("tenant_id", "int4");
    const other: Predicate = {
      kind: "compare",
      comparison: "=",
      column,
      value: { text: "2", path: null, certain: true },
    };
    const items: readonly Predicate[] = "items" in plan.predicate ? plan.predicate.items : [];
    const foreign: typeof plan = { ...plan, predicate: { kind: "and", items: [...items, other] } };
    const statements: ((sql: Sql) => Fragment)[] = [
      (sql) => compileUpdateByKey(sql, foreign),
      (sql) => compileUpdateBulk(sql, foreign),
      (sql) => compileUpdateSingle(sql, foreign),
      (sql) => compileLock(sql, foreign),
    ];
    for (const text of statements.map(printAsSent)) {
      const bare = text.replaceAll(/\("\$row"\."tenant_id" = [^()]*\) is true/g, "");
      assert(bare !== text, text);
      // What is left is the scope, once for each reference to the table and each row that is written.
      const scopes = bare.split(`"$row"."tenant_id" = `).length - 1;
      assertEquals(scopes, bare.split(/"app"\."deals" "\$row"|\breturning\b/).length - 1, bare);
    }
  });

  it("carry their settings in a transaction too [M17]", () => {
    const settings = [{ name: "app.tenant_id", value: "7" }];
    const lock = printAsSent((sql) => compileLock(sql, update(UPDATE), settings));
    assert(/^with "\$settings" as materialized \( ?select concat\(set_config\(/.test(lock), lock);
    assert(lock.endsWith(`where "$settings"."$made" is not null`), lock);
    const plan = update(UPDATE, { audited: AUDITED });
    const others: ((sql: Sql) => Fragment)[] = [
      (sql) => compileUpdateSingle(sql, plan, settings),
      (sql) => compileUpdateByKey(sql, plan, settings),
      (sql) => compileUpdateBulk(sql, plan, settings),
    ];
    for (const text of others.map(printAsSent)) {
      assert(/"\$settings" as materialized \( ?select concat\(set_config\(/.test(text), text);
      assert(text.includes(`where "$settings"."$made" is not null`), text);
    }
  });

  it(`match their golden file and take only text: ${AUDIT_TITLE} [R23]`, async () => {
    const { audit } = update(UPDATE, { audited: AUDITED });
    const counts = { matched: "2", updated: "1" };
    const text = printAsSent((sql) => compileAuditWithRules(sql, audit!, counts));
    const { types } = await database.admin.unsafe(text).describe();
    await compareGolden(AUDIT_TITLE, text);
    assertEquals(types.filter((type) => type !== 25), []);
  });

  for (const [title, compile] of Object.entries(OF_LINES)) {
    it(`match their golden file and take only text: ${title} [T59] [T61] [D1]`, async () => {
      const text = printAsSent(compile);
      const { types } = await database.admin.unsafe(text).describe();
      await compareGolden(title, text);
      assertEquals(types.filter((type) => type !== 25), []);
    });
  }

  const own: Record<string, (sql: Sql) => Fragment> = {
    "the look at the log for all that wait": (sql) =>
      compileWatch(sql, {
        seen: SEEN,
        feeds: [],
        arrived: [],
        tokens: [],
        record: printRecord(sql),
      }),
    "where the log is": (sql) => compileChangesMoment(sql, FEED),
    "where the log is, with a tenant setting": (sql) =>
      compileChangesMoment(sql, { ...FEED, settings: SETTINGS }),
  };
  for (const [title, compile] of Object.entries(own)) {
    it(`match their golden file and take only text: ${title} [CH9] [D1]`, async () => {
      const text = printAsSent(compile);
      const { types } = await database.admin.unsafe(text).describe();
      await compareGolden(title, text);
      assertEquals(types.filter((type) => type !== 25), []);
    });
  }

  it("leave no value of the request in the row of the audit [R23]", () => {
    assertEquals(update(UPDATE, { audited: AUDITED }).audit, {
      ...AUDITED,
      tokenId: "t",
      tenant: "1",
      table: "deals",
      filters: ["id", "status"],
      fields: ["amount", "tags", "day"],
    });
  });
});

import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createEncodedDatabase } from "../../support/encoded_database.ts";
import { awaitFeeds, enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { examineDatabase, findingsOf } from "../doctor/examine_database.ts";

const QUERY = "/integration/tables/people/query";
const SINGLE = "/integration/tables/people/records/single";
const BULK = "/integration/tables/people/records/bulk";
const TABLE = `
create type mood as enum ('good', 'bad');
create domain code as text;
create table people (id int4 primary key, tenant_id int4 not null, name text, short varchar(20),
  code code, mood mood, tags text[], doc jsonb, note text);
insert into people select n, 1, 'n' || n, 's' || n, 'c', 'good', '{a}', '{}', null
  from generate_series(1, 4) n;
create index on people (tenant_id);
grant select, update on people to rowgate_app;
`;

const EXPORT = { Accept: "application/x-ndjson" };

interface Answer {
  readonly error: string;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

async function openEncoded(encoding: string): Promise<TestService> {
  const database = await createEncodedDatabase(encoding);
  await database.admin.unsafe(TABLE);
  return await createTestService("real", { database, policy: { tables: {} } });
}

/** Returns status and error of a request. */
async function ask(service: TestService, path: string, body: unknown, method = "POST") {
  const { status, text } = await service.send(method, path, { body });
  return [status, (JSON.parse(text) as Answer).error];
}

const filterBy = (field: string, op: string, value: unknown) => ({
  filters: { and: [{ field: "id", op: "gt", value: 0 }, { field, op, value }] },
});

const lacks = (path: string, column: string) => [
  400,
  `${path}: The value has a character that the encoding of the database lacks, ` +
  `expected one that column "${column}" can hold`,
];

describe("a database with the encoding LATIN1", () => {
  let service: TestService;

  before(async () => {
    service = await openEncoded("LATIN1");
  });
  after(async () => {
    await service.close();
    await service.database.drop();
  });

  it("takes the characters that it has, and shows them [E53]", async () => {
    const body = { filters: { id: 4 }, fields: { name: "é", doc: { "ü": "ß" }, tags: ["å"] } };
    assertEquals((await service.send("PATCH", SINGLE, { body })).status, 200);
    const { text } = await service.send("POST", QUERY, { body: filterBy("name", "eq", "é") });
    const [record] = (JSON.parse(text) as Answer).records;
    assertEquals([record!.name, record!.doc, record!.tags], ["é", { "ü": "ß" }, ["å"]]);
  });

  it("answers a value with a character that it lacks with 400 at its path [E53]", async () => {
    for (const field of ["name", "short", "code"]) {
      for (
        const op of ["eq", "neq", "lt", "like", "not_like", "ilike", "not_ilike", "starts_with"]
      ) {
        assertEquals(
          await ask(service, QUERY, filterBy(field, op, "日")),
          lacks("filters.and[1].value", field),
          `${field} ${op}`,
        );
      }
      assertEquals(
        await ask(service, QUERY, filterBy(field, "in", ["a", "é", "日", "b"])),
        lacks("filters.and[1].value[2]", field),
      );
      assertEquals(
        await ask(service, QUERY, filterBy(field, "between", ["a", "日"])),
        lacks("filters.and[1].value[1]", field),
      );
    }
    assertEquals(
      await ask(service, QUERY, filterBy("tags", "contains", "日")),
      lacks("filters.and[1].value", "tags"),
    );
    const { text } = await service.send("POST", QUERY, {
      body: filterBy("name", "eq", "日"),
      headers: EXPORT,
    });
    assertEquals(JSON.parse(text).error, lacks("filters.and[1].value", "name")[1]);
  });

  it("answers a new value with a character that it lacks with 400 at its path [E53]", async () => {
    for (
      const [field, value] of Object.entries({ name: "日", short: "日", code: "日", doc: ["日"] })
    ) {
      const body = { filters: { id: 1 }, fields: { note: "é", [field]: value } };
      for (const path of [SINGLE, BULK]) {
        assertEquals(await ask(service, path, body, "PATCH"), lacks(`fields.${field}`, field));
      }
    }
    const updates = [
      { filters: { id: 1 }, fields: { note: "x" } },
      { filters: { id: 2 }, fields: { note: "日" } },
    ];
    const batch = "/integration/tables/people/records/batch";
    assertEquals(
      await ask(service, batch, { updates }, "PATCH"),
      lacks("updates[1].fields.note", "note"),
    );
    const [row] = await service.database.admin`select count(note)::int4 as notes from people`;
    assertEquals(row!.notes, 0);
  });

  it("serves others that ask at the same time as someone with a character that it lacks [E53]", async () => {
    const bodies = ["n1", "日", "n2", "日", "n3"].map((name) => ({
      filters: {
        and: [{ field: "id", op: "eq", value: 1 }, { field: "name", op: "eq", value: name }],
      },
    }));
    const statuses = await Promise.all(
      bodies.map((body) => service.send("POST", QUERY, { body }).then(({ status }) => status)),
    );
    assertEquals(statuses, [200, 400, 200, 400, 200]);
  });

  it("is named by doctor [R69]", async () => {
    assertEquals(
      findingsOf(await examineDatabase(service.database), "server").filter((what) =>
        what.includes("encoding")
      ),
      ["warning: the encoding of the database is LATIN1, not UTF8"],
    );
  });
});

describe("a database with the encoding SQL_ASCII", () => {
  let service: TestService;

  before(async () => {
    service = await openEncoded("SQL_ASCII");
    await service.database.admin.unsafe(`
      update people set note = convert_from('\\xe9'::bytea, 'SQL_ASCII') where id = 3;
      comment on column people.name is 'a name';
      do $$ begin
        execute format('comment on column people.note is %L', convert_from('\\xe9', 'SQL_ASCII'));
      end $$`);
  });
  after(async () => {
    await service.close();
    await service.database.drop();
  });

  const unreadable = (column: string) => [
    400,
    `select: Column "${column}" has a text that is not valid in UTF-8, expected columns without`,
  ];

  it("takes any text, and shows it [E53]", async () => {
    const body = { filters: { id: 1 }, fields: { name: "日本", tags: ["é"] } };
    assertEquals((await service.send("PATCH", SINGLE, { body })).status, 200);
    const found = await service.send("POST", QUERY, { body: filterBy("name", "eq", "日本") });
    const [record] = (JSON.parse(found.text) as Answer).records;
    assertEquals([record!.name, record!.tags], ["日本", ["é"]]);
  });

  it("shows comments that are not UTF-8 [E54]", async () => {
    const { status, text } = await service.send("GET", "/integration/tables/people/fields");
    assertEquals(status, 200, text);
    assertEquals(text.includes("a name") && text.includes("é"), true, text);
  });

  it("names the column of a stored text that is not UTF-8, not a filter [E54]", async () => {
    assertEquals(await ask(service, QUERY, {}), unreadable("note"));
    assertEquals(await ask(service, QUERY, filterBy("name", "like", "n%")), unreadable("note"));
    assertEquals(await ask(service, QUERY, filterBy("id", "eq", 3)), unreadable("note"));
    assertEquals(await ask(service, QUERY, { select: ["name", "note"] }), unreadable("note"));
    const rest = { select: ["id", "name", "doc"], sort: [{ field: "id" }] };
    assertEquals((await service.send("POST", QUERY, { body: rest })).status, 200);
  });

  it("says so without a column where only the sort reads it, and in exports [E54]", async () => {
    const general = [
      400,
      "select: A column has a text that is not valid in UTF-8, expected columns without",
    ];
    const exported = await service.send("POST", QUERY, {
      body: filterBy("id", "eq", 3),
      headers: EXPORT,
    });
    assertEquals([exported.status, JSON.parse(exported.text).error], general);
    const body = { select: ["id"], sort: [{ field: "note" }], per_page: 1 };
    const { status, text } = await service.send("POST", QUERY, {
      body,
      headers: { Prefer: "page-token" },
    });
    assertEquals([status, JSON.parse(text).error], general);
  });

  it("returns no row with such a text from a write, which changes nothing [E54]", async () => {
    const body = { filters: { id: 3 }, fields: { name: "other" } };
    const headers = { Prefer: "return=representation" };
    const { status, text } = await service.send("PATCH", SINGLE, { body, headers });
    assertEquals([status, JSON.parse(text).error], [
      400,
      "Prefer: the record of return=representation has a text that is not valid in UTF-8, " +
      "expected no such preference; nothing was changed",
    ]);
    const [row] = await service.database.admin`select name from people where id = 3`;
    assertEquals(row!.name, "n3");
  });

  it("cuts off an export that meets such a text, and reads no feed past it [E54]", async () => {
    await service.database.admin.unsafe(`
      create table long_people (id int4 primary key, tenant_id int4 not null, name text);
      insert into long_people select n, 1, repeat('n', 1000) from generate_series(1, 20000) n;
      update long_people set name = convert_from('\\xe9', 'SQL_ASCII') where id = 19000;
      grant select, update on long_people to rowgate_app`);
    const path = "/integration/tables/long_people";
    await waitUntil(async () => (await service.send("GET", `${path}/fields`)).status === 200);
    await enableFeeds(service, ["long_people"]);
    await awaitFeeds(service, ["long_people"]);
    const exported = service.send("POST", `${path}/query`, { body: {}, headers: EXPORT });
    assertEquals(await exported.then(() => "whole", String), "An export was cut off");
    const { text } = await service.send("GET", `${path}/changes?since=now`);
    const update = async (id: number) => {
      const body = { filters: { id }, fields: { name: "new" } };
      const written = await service.send("PATCH", `${path}/records/single`, { body });
      assertEquals(written.status, 200);
    };
    await service.database.admin`
      update long_people set tenant_id = 1, name = name || 'x' where id = 19000`;
    const since = `${path}/changes?since=${JSON.parse(text).cursor}`;
    const unread = await service.send("GET", since);
    assertEquals(
      [unread.status, JSON.parse(unread.text).error],
      [400, "A stored text is not valid in UTF-8"],
    );
    await update(19000);
    const read = await service.send("GET", since);
    assertEquals([read.status, read.text.includes('"new"')], [200, true]);
  });

  it("updates a row with such a text [E54]", async () => {
    const body = { filters: { id: 3 }, fields: { name: "new" } };
    assertEquals((await service.send("PATCH", SINGLE, { body })).status, 200);
    const mended = { filters: { id: 3 }, fields: { note: "é" } };
    assertEquals((await service.send("PATCH", SINGLE, { body: mended })).status, 200);
    assertEquals((await service.send("POST", QUERY, { body: {} })).status, 200);
  });
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { openDatabase, probeDatabase } from "../../../src/database/postgres/open_database.ts";
import { DatabaseError, describeFatal } from "../../../src/database/postgres/database_error.ts";
import { toApiError } from "../../../src/records/database_status.ts";
import { createTestDatabase } from "../../support/database.ts";
import type { TestDatabase } from "../../support/database.ts";
import { configure } from "./open_subject.ts";

/** A port in front of Postgres that can be shut and opened. */
interface Door {
  readonly port: number;
  readonly open: () => Promise<void>;
  readonly shut: () => Promise<void>;
}

/** The question whether a server encrypts. */
const SSL_REQUEST_BYTES = 8;

async function makeDoor(target: URL): Promise<Door> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const beyond = connect(Number(target.port), target.hostname);
    for (const [one, other] of [[socket, beyond], [beyond, socket]] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    });
  await shut();
  return { port, open: () => listen(port), shut };
}

describe("a database that comes and goes", () => {
  let test: TestDatabase;
  let door: Door;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    door = await makeDoor(new URL(test.url ?? ""));
  });
  after(async () => {
    await door.shut();
    await test.drop();
  });

  it("may be unavailable at the start and come later [R35] [DB1]", async () => {
    const url = new URL(test.url ?? "");
    url.port = String(door.port);
    const database = openDatabase(configure({ databaseUrl: url.href }), () => {});
    let heard = 0;
    await database.listen("changed", () => heard++);
    const failure = await probeDatabase(database);
    assertEquals([failure?.kind, failure?.code], ["unavailable", "ECONNREFUSED"]);
    assert(failure !== undefined && describeFatal(failure) === undefined);
    const rejection = await assertRejects(
      () => database.run((sql) => sql`select 1`, { write: true }),
      DatabaseError,
    );
    const error = toApiError(rejection);
    assertEquals([error.status, error.headers["Retry-After"]], [503, "1"]);
    assert(error.message.includes("nothing was changed"));

    await door.open();
    while (await probeDatabase(database) !== undefined);
    const rows = await database.run((sql) => sql`select ${"up"}::text as state`, { write: true });
    assertEquals(rows[0]?.state, "up");
    while (heard === 0) {
      await test.admin`select pg_notify('changed', '')`;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }

    await door.shut();
    assertEquals((await probeDatabase(database))?.kind, "unavailable");
    await door.open();
    while (await probeDatabase(database) !== undefined);
    const before = heard;
    while (heard === before) {
      await test.admin`select pg_notify('changed', '')`;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await database.close(1000);
    assertEquals((await probeDatabase(database))?.kind, "unavailable");
  });

  it("hears a NOTIFY of its channel and of no other [T38]", async () => {
    const database = openDatabase(configure({ databaseUrl: test.url }), () => {});
    let heard = 0;
    await database.listen("mine", () => heard++);
    assertEquals(heard, 0);
    await test.admin`select pg_notify('other', ''), pg_notify('mine', '')`;
    while (heard === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await test.admin`select pg_notify('other', '')`;
    await database.close(1000);
    assertEquals(heard, 1);
  });

  it("ends the start when its name is wrong [R37] [DB2]", async () => {
    const url = new URL(test.url ?? "");
    url.pathname = "/no_such_database";
    const database = openDatabase(configure({ databaseUrl: url.href }), () => {});
    const failure = await probeDatabase(database);
    assertEquals([failure?.kind, failure?.code], ["unavailable", "3D000"]);
    const text = failure === undefined ? "" : describeFatal(failure) ?? "";
    assert(text.includes("does not exist"));
    assertEquals(JSON.stringify([failure, text]).includes(url.password), false);
    await database.close(1000);
  });

  it("ends the start when the password is wrong [DB2]", async () => {
    const url = new URL(test.url ?? "");
    url.password = "hunter2";
    const database = openDatabase(configure({ databaseUrl: url.href }), () => {});
    const failure = await probeDatabase(database);
    assertEquals([failure?.kind, failure?.code], ["unavailable", "28P01"]);
    const text = failure === undefined ? "" : describeFatal(failure) ?? "";
    assert(text.includes("password"));
    assertEquals(JSON.stringify([failure, text]).includes("hunter2"), false);
    await database.close(1000);
  });

  it("is never used unencrypted when encryption was requested [DB24]", async () => {
    for (const mode of ["require", "verify-full"]) {
      const database = openDatabase(
        configure({ databaseUrl: `${test.url}?sslmode=${mode}` }),
        () => {},
      );
      assertEquals((await probeDatabase(database))?.kind, "unavailable", mode);
      await database.close(1000);
    }
  });

  it("is not used when it gives an invalid answer to the request for TLS [DB24]", async () => {
    // An error as from before TLS, and a yes with more behind it, which would be taken for encrypted.
    for (const response of ["E", "SR\0\0\0\x08\0\0\0\0"]) {
      let reported = 0;
      const server = createServer((socket) => {
        socket.on("error", () => {}).on("data", (data) => reported += data.length);
        socket.write(response);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const url = `postgres://app:secret@127.0.0.1:${port}/shop?sslmode=`;
      for (const mode of ["prefer", "require", "verify-full"]) {
        const database = openDatabase(configure({ databaseUrl: url + mode }), () => {});
        reported = 0;
        const failure = await probeDatabase(database);
        assertEquals([failure?.kind, failure?.code], ["unavailable", "SSL_NOT_ANSWERED"], mode);
        // It takes four attempts in a row before a failure is reported; each asks and says nothing else.
        assertEquals(reported % SSL_REQUEST_BYTES, 0);
        await database.close(1000);
      }
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("works without prepared statements and session settings behind a pooler [R20] [R6]", async () => {
    const database = openDatabase(
      configure({ databaseUrl: `${test.url}?pgbouncer=true&schema=public`, prepare: false }),
      () => {},
    );
    let heard = 0;
    await database.listen("mine", () => heard++);
    const [row] = await database.run<{ held: string; value: string; zone: string }>(
      (sql) =>
        sql`select (select count(*)::text from pg_prepared_statements) as held,
          ${"v"}::text as value, current_setting('TimeZone') as zone`,
      { write: false },
    );
    assertEquals({ ...row }, { held: "0", value: "v", zone: "UTC" });
    await test.admin`select pg_notify('mine', '')`;
    await database.transact([(sql) => sql`select ${"1"}::text`], { rollback: true });
    assertEquals(heard, 0);
    await database.close(1000);
  });

  it("gets our settings in place of those of its role [DB27]", async () => {
    const role = `loud_${crypto.randomUUID().replaceAll("-", "")}`;
    await test.admin.unsafe(`
      create role ${role} login superuser password 'x';
      alter role ${role} set statement_timeout = '1ms';
      alter role ${role} set DateStyle = 'German';
      alter role ${role} set extra_float_digits = -5;
      alter role ${role} set TimeZone = 'Asia/Tokyo';
    `);
    try {
      const url = new URL(test.url ?? "");
      url.username = role;
      url.password = "x";
      const database = openDatabase(configure({ databaseUrl: url.href }), () => {});
      const [row] = await database.run(
        (sql) =>
          sql`select (0.1::float8 + 0.2::float8)::text as sum, current_setting('TimeZone') as zone,
            date '2024-02-29'::text as day from pg_sleep(0.05)`,
        { write: false },
      );
      assertEquals({ ...row }, { sum: "0.30000000000000004", zone: "UTC", day: "2024-02-29" });
      await database.close(1000);
    } finally {
      await test.admin.unsafe(`drop role ${role}`);
    }
  });
});

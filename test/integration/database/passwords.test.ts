import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { openDatabase, probeDatabase } from "../../../src/database/postgres/open_database.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { configure } from "./open_subject.ts";

/** Asks each role for its password by the method of its name. */
const ACCESS = `host all postgres all scram-sha-256
host all plain all password
host all all all md5
`;

/** A password as Postgres gets it, and as it may be typed later. */
const SAME: readonly (readonly [string, string])[] = [
  ["caf\u00e9", "cafe\u0301"],
  ["\ufb01ne", "fine"],
  ["two\u00a0words", "two words"],
  ["soft\u00adhyphen", "softhyphen"],
  ["\u2168", "IX"],
];

describe("a password of DATABASE_URL", () => {
  let cluster: Cluster;
  let admin: postgres.Sql;

  before(async () => {
    cluster = await startCluster({ files: { "pg_hba.conf": ACCESS } });
    admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
  });
  after(async () => {
    await admin?.end();
    await cluster?.stop();
  });

  async function makeRole(name: string, password: string, encryption = "scram-sha-256") {
    const literal = `'${password.replaceAll("'", "''")}'`;
    await admin.unsafe(`set password_encryption = '${encryption}';
      drop role if exists ${name}; create role ${name} login password ${literal}`);
  }

  async function logIn(user: string, password: string): Promise<string | undefined> {
    const url = new URL(`${cluster.url}/postgres`);
    url.username = user;
    url.password = encodeURIComponent(password);
    const database = openDatabase(configure({ databaseUrl: url.href }), () => {});
    try {
      return (await probeDatabase(database))?.code;
    } finally {
      await database.close(1000);
    }
  }

  for (const [stored, typed] of SAME) {
    it(`is normalised for SCRAM: ${JSON.stringify(stored)} [R66]`, async () => {
      await makeRole("scram", stored);
      assertEquals(await logIn("scram", stored), undefined);
      assertEquals(await logIn("scram", typed), undefined);
      assertEquals(await logIn("scram", `${typed}x`), "28P01");
    });
  }

  it("stays as it is where SASLprep forbids a character [R66]", async () => {
    for (const password of ["\u0627b", "tag\u{e0041}", "new\u{1f600}"]) {
      await makeRole("scram", password);
      assertEquals(await logIn("scram", password), undefined, password);
    }
  });

  it("stays as it is for MD5, and where the server gets it in clear text [R66]", async () => {
    await makeRole("hashed", "caf\u00e9\u00a0", "md5");
    assertEquals(await logIn("hashed", "caf\u00e9\u00a0"), undefined);
    assertEquals(await logIn("hashed", "caf\u00e9 "), "28P01");
    await makeRole("plain", "caf\u00e9\u00a0");
    assertEquals(await logIn("plain", "caf\u00e9\u00a0"), undefined);
  });
});

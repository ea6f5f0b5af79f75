import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { makeCertificate } from "../support/certificate.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { clusterUrl } from "../support/shared_databases.ts";
import { COMMANDS, RUNTIMES } from "../support/runtime_server.ts";
import { waitUntil } from "../support/wait_until.ts";
import {
  awaitAddress,
  awaitOutput,
  type RunningProcess,
  startCommand,
  startProcess,
} from "./run_process.ts";

/** Who comes without TLS is not let in. */
const ACCESS = "hostssl all all all scram-sha-256\n";

/** How the database is asked for, and what is said where it is rejected. */
interface Case {
  readonly name: string;
  readonly host?: string;
  readonly mode: string;
  readonly root?: "own" | "other" | "none";
  readonly rejection?: RegExp;
}

/** Modes that ask for TLS. */
const ENCRYPTED = ["require", "verify-ca", "verify-full"];

const CASES: readonly Case[] = [
  { name: "takes what is there, unverified, by default", mode: "prefer" },
  { name: "encrypts without verifying", mode: "require" },
  { name: "verifies with a root certificate", mode: "require", root: "own" },
  { name: "verifies authority and name", mode: "verify-full", root: "own" },
  { name: "verifies an address", mode: "verify-full", root: "own", host: "127.0.0.1" },
  {
    name: "does not connect unencrypted where TLS is asked for by the server",
    mode: "disable",
    rejection: /does not let the user of DATABASE_URL in .*\(28000\)/,
  },
  {
    name: "rejects another authority",
    mode: "verify-full",
    root: "other",
    rejection: /certificate comes from an unknown authority/,
  },
  {
    name: "rejects another authority with require, too",
    mode: "require",
    root: "other",
    rejection: /certificate comes from an unknown authority/,
  },
  {
    name: "rejects an authority that the system does not know",
    mode: "verify-ca",
    rejection: /certificate comes from an unknown authority/,
  },
  {
    name: "rejects a certificate for another host",
    mode: "verify-full",
    root: "own",
    host: "127.0.0.2",
    rejection: /certificate is for another host/,
  },
  {
    name: "rejects a root certificate that cannot be read",
    mode: "verify-full",
    root: "none",
    rejection: /file named by sslrootcert in DATABASE_URL cannot be read/,
  },
];

/** A program that opens the service on several databases: most of what a process costs is to start it. */
const OPEN_EACH = "test/runtime/open_each.js";
const PROGRAMS: Readonly<Record<(typeof RUNTIMES)[number], readonly string[]>> = {
  deno: [process.execPath, "run", "-A", "--no-check", OPEN_EACH, "../../src/mod.ts"],
  bun: [COMMANDS.bun[0]!, OPEN_EACH, "../../dist/mod.js"],
  node: ["node", OPEN_EACH, "../../dist/mod.js"],
};

/** Has Postgres store the password as it does by itself, not as test/support/encode_password.ts does. */
async function storePassword({ url }: Cluster): Promise<void> {
  const sql = postgres(`${url}/postgres`, { max: 1, ssl: "require" });
  await sql.unsafe(`alter role postgres password '${new URL(url).password}'`);
  const [row] = await sql`select rolpassword from pg_authid where rolname = 'postgres'`;
  assertMatch(row!.rolpassword, /^SCRAM-SHA-256\$4096:/);
  await sql.end();
}

describe("TLS to the database", () => {
  let cluster: Cluster;

  before(async () => {
    const authority = await makeCertificate({ name: "The tests' authority" });
    const other = await makeCertificate({ name: "Another authority" });
    const server = await makeCertificate({
      ...{ name: "localhost", hosts: ["localhost"], addresses: ["127.0.0.1"] },
      issuer: authority,
    });
    cluster = await startCluster({
      settings: { ssl: "on", listen_addresses: "*", authentication_timeout: "10min" },
      files: {
        "server.crt": server.certificate,
        "server.key": server.key,
        "pg_hba.conf": ACCESS,
      },
    });
    await storePassword(cluster);
    await writeFile(join(cluster.folder, "own.pem"), authority.certificate);
    await writeFile(join(cluster.folder, "other.pem"), other.certificate);
  });
  after(() => cluster?.stop());

  function locate({ host = "localhost", mode, root }: Omit<Case, "name">): URL {
    const url = new URL(`${cluster.url}/postgres?sslmode=${mode}`);
    url.hostname = host;
    if (root !== undefined) {
      url.searchParams.set("sslrootcert", join(cluster.folder, `${root}.pem`));
    }
    return url;
  }

  for (const runtime of RUNTIMES) {
    describe(`on ${runtime}`, () => {
      /** The status of /readyz, or the message of a rejection. */
      let opened: readonly (number | string)[];
      let unencrypted: readonly (number | string)[];
      let program: RunningProcess;

      before(async () => {
        const plain = await clusterUrl();
        const urls = [
          ...CASES.map((each) => locate(each)),
          ...ENCRYPTED.map((mode) => new URL(`${plain}/postgres?sslmode=${mode}`)),
        ];
        const [command = "", ...words] = PROGRAMS[runtime];
        program = startProcess(command, [...words, ...urls.map(({ href }) => href)]);
        const stdout = await awaitOutput(program, /^\[.*\]$/s, "stdout");
        for (const { password } of urls) assertEquals(stdout.includes(password), false);
        const results = JSON.parse(stdout);
        opened = results.slice(0, CASES.length);
        unencrypted = results.slice(CASES.length);
      });
      after(() => program?.send("SIGKILL"));

      for (const [at, { name, rejection }] of CASES.entries()) {
        it(`${name} [DB24]`, () => {
          if (rejection === undefined) assertEquals(opened[at], 200);
          else assertMatch(String(opened[at]), rejection);
        });
      }

      it("rejects a server without TLS when it is asked for [DB24]", () => {
        assertEquals(unencrypted.length, ENCRYPTED.length);
        for (const result of unencrypted) {
          assertMatch(String(result), /the database does not encrypt/);
        }
      });

      it("leaves no connection of an attempt that was rejected, which would keep the process [DB33]", async () => {
        let code: number | null | undefined;
        void program.ended.then((ended) => code = ended);
        await waitUntil(() => Promise.resolve(code !== undefined));
        assertEquals(code, 0, program.output().stderr);
      });

      it("serves where it is verified, and ends with one line where it is rejected [DB24]", async () => {
        const verified = locate({ mode: "verify-full", root: "own" });
        const server = startCommand(runtime, ["serve"], { DATABASE_URL: verified.href, PORT: "0" });
        const ready = await fetch(`${await awaitAddress(server)}/readyz`);
        assertEquals(ready.status, 200, await ready.text());
        server.send("SIGTERM");
        assertEquals(await server.ended, 0);

        const { href } = locate({ mode: "verify-full", root: "other" });
        const rejected = startCommand(runtime, ["serve"], { DATABASE_URL: href, PORT: "0" });
        const code = await rejected.ended;
        const { stderr } = rejected.output();
        assertEquals([code, stderr.split("\n").length], [1, 2], stderr);
        assertMatch(stderr, /certificate comes from an unknown authority/);
        assertEquals(stderr.includes(verified.password), false);
      });
    });
  }
});

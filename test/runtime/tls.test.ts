import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { clusterUrl } from "../support/shared_databases.ts";
import { type Runtime, RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, startCommand } from "./run_process.ts";

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

for (const runtime of RUNTIMES) {
  describe(`TLS to the database on ${runtime}`, () => {
    let cluster: Cluster;

    before(async () => {
      const authority = await makeCertificate({ name: "The tests' authority" });
      const other = await makeCertificate({ name: "Another authority" });
      const server = await makeCertificate({
        ...{ name: "localhost", hosts: ["localhost"], addresses: ["127.0.0.1"] },
        issuer: authority,
      });
      cluster = await startCluster({
        settings: { ssl: "on", listen_addresses: "*" },
        files: {
          "server.crt": server.certificate,
          "server.key": server.key,
          "pg_hba.conf": ACCESS,
        },
      });
      await writeFile(join(cluster.folder, "own.pem"), authority.certificate);
      await writeFile(join(cluster.folder, "other.pem"), other.certificate);
    });
    after(() => cluster?.stop());

    for (const { name, host = "localhost", mode, root, rejection } of CASES) {
      it(`${name} [DB24]`, async () => {
        const url = new URL(`${cluster.url}/postgres?sslmode=${mode}`);
        url.hostname = host;
        if (root !== undefined) {
          url.searchParams.set("sslrootcert", join(cluster.folder, `${root}.pem`));
        }
        if (rejection === undefined) await serveOnce(runtime, url);
        else assertMatch(await expectRejection(runtime, url), rejection);
      });
    }

    it("rejects a server without TLS when it is asked for [DB24]", async () => {
      for (const mode of ["require", "verify-ca", "verify-full"]) {
        const url = new URL(`${await clusterUrl()}/postgres?sslmode=${mode}`);
        assertMatch(await expectRejection(runtime, url), /the database does not encrypt/);
      }
    });
  });
}

/** Serves until it is ready, on a server that requires TLS. */
async function serveOnce(runtime: Runtime, url: URL): Promise<void> {
  const server = startCommand(runtime, ["serve"], { DATABASE_URL: url.href, PORT: "0" });
  const address = await awaitAddress(server);
  const ready = await fetch(`${address}/readyz`);
  assertEquals(ready.status, 200, await ready.text());
  server.send("SIGTERM");
  assertEquals(await server.ended, 0);
}

/** Returns the one line that a start ends with, which shows no password. */
async function expectRejection(runtime: Runtime, url: URL): Promise<string> {
  const server = startCommand(runtime, ["serve"], { DATABASE_URL: url.href, PORT: "0" });
  const code = await server.ended;
  const { stderr } = server.output();
  assertEquals([code, stderr.split("\n").length], [1, 2], stderr);
  assertEquals(stderr.includes(url.password), false);
  return stderr;
}

// Runs every command of the documents in a shell, in order and as written, and expects success; their SQL in psql, on
// a Postgres with the demonstration. Names and places that are different here are replaced. test/docs/coverage.ts says
// what is not run, and why.
import { assert, assertEquals, assertMatch, assertNotMatch, assertRejects } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { access } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../src/server/config/config.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { fillDemonstration } from "../../src/cli/demonstration/fill.ts";
import { type Block, readBlocks, readDocument, splitCommands } from "../docs/blocks.ts";
import { HELD_BACK } from "../docs/coverage.ts";
import { CITUS } from "../support/citus.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { findPooler, startPooler } from "../support/pooler.ts";
import { openShell, PASSWORD, type Shell } from "./shell.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TOKEN = /rg_(\w{11})_\w+/;
const TOKENS = new RegExp(TOKEN, "g");
/** The id of a token in the documents. */
const ID = "hVn3Kq7Tz2Y";
const pooler = await findPooler();
const psql = await findProgram("psql");

if (psql === undefined) {
  console.log("psql is not installed: the commands of the documents are not run");
} else {
  describe("the commands of", () => {
    let cluster: Cluster;
    let shell: Shell;
    let owner: string;

    beforeEach(async () => {
      // Durable, as an operator's Postgres is, so that doctor has no findings.
      const settings = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
      cluster = await startCluster({ settings });
      owner = `${cluster.url}/shop`;
    });
    afterEach(async () => {
      await shell?.close();
      await cluster.stop();
    });

    /** Opens a shell that knows the database with the demonstration. */
    async function open(rowgate?: string): Promise<void> {
      shell = await openShell({ postgres: cluster.binaries, rowgate });
      shell.variables.set("OWNER_URL", owner);
      await shell.run(`psql -q ${cluster.url}/postgres -c 'create database shop'`);
      const { config } = readConfig({ DATABASE_URL: owner });
      const database = openDatabase(config!, () => {});
      await fillDemonstration(database);
      await database.close(1000);
    }

    it("README.md, docs/install.md and CONTRIBUTING.md do what they say", async () => {
      await open();
      shell.replace.set("rowgate_app:secret@localhost/shop", nameApp(owner));
      await typeDocument("README.md", shell);
      await typeDocument("docs/install.md", shell);
      await typeDocument("CONTRIBUTING.md", shell);
      const starts = listStarts(await readDocument("README.md"));
      assertEquals(starts.length, 3);
      for (const command of starts) await typeCommand(command, shell);
    });

    it("docs/operators.md do what it says", async () => {
      await open(join(ROOT, "dist/rowgate"));
      await shell.run(`psql -q ${cluster.url}/postgres -c 'create database restored'`);
      const app = `postgres://${nameApp(owner)}`;
      const pooled = pooler === undefined ? undefined : await startPooler(pooler, app);
      try {
        shell.variables.set("NEW_URL", `${cluster.url}/restored`);
        shell.variables.set("DATABASE_URL", app);
        shell.replace.set("postgres://rowgate_app:…@db/shop", app);
        shell.replace.set(
          "postgres://rowgate_app:…@pooler:6432/shop",
          pooled?.through(app) ?? app,
        );
        await typeDocument("docs/operators.md", shell);
        // The page revokes rights first and runs the setup later, which must not grant them again.
        const rights = "has_column_privilege('rowgate_app', 'customers', 'credit_limit', 'select')";
        const output = await shell.run(`psql "$OWNER_URL" -Atc "select ${rights}"`);
        assertEquals(output, "f\n");
      } finally {
        await pooled?.stop();
      }
    });

    it("docs/guide.md and docs/typescript.md do what they say", async () => {
      await open(join(ROOT, "dist/rowgate"));
      shell.variables.set("DATABASE_URL", owner);
      await shell.run("rowgate setup");
      await shell.serve("rowgate serve");
      shell.replace.set("https://rows.example.com", shell.address);
      await typeDocument("docs/guide.md", shell);
      await typeDocument("docs/typescript.md", shell);
      assertMatch(await shell.run("cat tables.ts"), /order_no: /);
    });

    it("scripts/check_citus.sh do what they say, but for Citus itself [M26] [M16]", async () => {
      shell = await openShell({ postgres: cluster.binaries, rowgate: undefined });
      shell.variables.set("DATABASE_URL", owner);
      await shell.run(`psql -q ${cluster.url}/postgres -c 'create database shop'`);
      await shell.run(`psql -q "$DATABASE_URL" <<'END'\n${CITUS}\nEND`);
      const output = await shell.run("sh scripts/check_citus.sh");
      assertMatch(output, /^select pg_catalog\.create_distributed_table\(.*things.*, 'tenant_id'/m);
      assertEquals(output.match(/^\d{3} (POST|PATCH) /gm)?.length, 6);
      assertMatch(output, /PostgreSQL [\d.]+.*, sharded$/m);
      // It has ended the server that it started.
      await assertRejects(() => fetch(`${shell.address}/livez`));
    });
  });
}

/** Runs all commands and SQL of a document. */
async function typeDocument(path: string, shell: Shell): Promise<void> {
  const blocks = readBlocks(await readDocument(path));
  let typed = 0;
  for (const block of blocks) {
    if (block.language === "sh") typed += await typeCommands(block, shell);
    if (block.language === "sql") typed += await typeSql(block, shell);
    // The only JSON that is a policy, not the response to a request.
    if (block.language === "json" && /"tables": \{/.test(block.text)) {
      await shell.run(`cat > policy.json <<'END'\n${block.text}\nEND`);
    }
  }
  assert(typed > 0);
}

async function typeCommands({ text, line }: Block, shell: Shell): Promise<number> {
  const settings: string[] = [];
  const commands = splitCommands(text).filter((command) => !Object.hasOwn(HELD_BACK, command));
  for (const command of commands) {
    if (command.startsWith("export ")) settings.push(command);
    else {await typeCommand([...settings, command].join("\n"), shell).catch((error) => {
        throw new Error(`line ${line}`, { cause: error });
      });}
  }
  return commands.length;
}

async function typeCommand(command: string, shell: Shell): Promise<void> {
  if (/\b(serve|start)$/.test(command)) {
    // The documents say several times how to start the demonstration; once is enough.
    if (shell.has(command)) return;
    const output = await shell.serve(command);
    keepToken(output, shell);
    return await checkServer(shell);
  }
  const output = await shell.run(command);
  // psql ends with 0 even if a statement of a file has failed.
  assertNotMatch(output, /^(psql:\S+ )?ERROR:/m);
  if (command.startsWith("curl")) assertMatch(output, /"success":true/);
  if (command.endsWith("doctor")) assertMatch(output, /No findings in \d+ checks/);
  if (/token create|token rotate/.test(command)) assert(keepToken(output, shell), output);
}

/** The documents name the first token by its id, and use the last one. */
function keepToken(output: string, { replace, variables }: Shell): boolean {
  const [token, id] = TOKEN.exec(output) ?? [];
  if (token === undefined) return false;
  variables.set("ROWGATE_TOKEN", token);
  replace.set("rg_…", token);
  if (!replace.has(ID)) replace.set(ID, id!);
  return true;
}

/** Checks that the server returns rows to a token of its database, old or new. */
async function checkServer({ address, output }: Shell): Promise<void> {
  const statuses = await Promise.all(
    [...output().matchAll(TOKENS)].map(async ([token]) => {
      const response = await fetch(`${address}/integration/tables/customers/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: '{"per_page":1}',
      });
      return [response.status, (await response.json()).records?.length].join(" ");
    }),
  );
  assert(statuses.includes("200 1"), statuses.join());
}

async function typeSql({ text }: Block, { run }: Shell): Promise<number> {
  // The page creates a role without a password, and says how to give it one.
  const [, role] = /^create role (\w+)/.exec(text) ?? [];
  await run(`psql -q -v ON_ERROR_STOP=1 "$OWNER_URL" <<'END'\n${text}\nEND`);
  if (role !== undefined) await run(`psql "$OWNER_URL" -c '\\password ${role}'`);
  return 1;
}

/** Returns the commands that start the service on each runtime, from the table of the README. */
function listStarts(markdown: string): string[] {
  const table = markdown.slice(
    markdown.indexOf("## Install"),
    markdown.indexOf("## Read on"),
  );
  return [...table.matchAll(/^\|[^|]*\| `([^`]+)` +\|$/gm)]
    .map(([, command = ""]) => command.replace("npm install && ", ""));
}

/** Returns the connection string of the serving role, without `postgres://`. */
function nameApp(owner: string): string {
  const { host, pathname } = new URL(owner);
  return `rowgate_app:${PASSWORD}@${host}${pathname}`;
}

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? "").split(":")) {
    const file = join(folder, name);
    if (await access(file).then(() => true, () => false)) return file;
  }
  return undefined;
}

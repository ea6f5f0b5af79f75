// Every command of the documents is typed into a shell, in order, as it stands there, and has to end well; so is
// their SQL, into psql, on a Postgres of its own that holds the demonstration. Names and places that are different
// here are replaced; what is not run, and why, stands in test/docs/coverage.ts.
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { access } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/postgres/open_database.ts";
import { fillDemonstration } from "../../src/demonstration/fill.ts";
import { type Block, readBlocks, readDocument, splitCommands } from "../docs/blocks.ts";
import { HELD_BACK } from "../docs/coverage.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { findPooler, startPooler } from "../support/pooler.ts";
import { openShell, PASSWORD, type Shell } from "./shell.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TOKEN = /rg_(\w{11})_\w+/;
const TOKENS = new RegExp(TOKEN, "g");
/** Stands for the id of a token in the documents. */
const ID = "hVn3Kq7Tz2Y";
const pooler = await findPooler();
const psql = await findProgram("psql");

if (psql === undefined) console.log("psql is not installed: no command of the documents is run");
else {
  describe("the commands of", () => {
    let cluster: Cluster;
    let shell: Shell;
    let owner: string;

    beforeEach(async () => {
      // As an operator's: doctor finds nothing to say about it.
      const settings = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
      cluster = await startCluster({ settings });
      owner = `${cluster.url}/shop`;
    });
    afterEach(async () => {
      await shell?.close();
      await cluster.stop();
    });

    /** Opens a shell in which the database of the demonstration's tables is known. */
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
        // The page narrows first and runs the setup later: what it took away stays away.
        const rights = "has_column_privilege('rowgate_app', 'customers', 'credit_limit', 'select')";
        const told = await shell.run(`psql "$OWNER_URL" -Atc "select ${rights}"`);
        assertEquals(told, "f\n");
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
  });
}

/** Types all commands and SQL of a document. */
async function typeDocument(path: string, shell: Shell): Promise<void> {
  const blocks = readBlocks(await readDocument(path));
  let typed = 0;
  for (const block of blocks) {
    if (block.language === "sh") typed += await typeCommands(block, shell);
    if (block.language === "sql") typed += await typeSql(block, shell);
    // The one that is no answer to a request.
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
    // The documents say how to start the demonstration more than once; it takes its time.
    if (shell.has(command)) return;
    const told = await shell.serve(command);
    keepToken(told, shell);
    return await checkServer(shell);
  }
  const told = await shell.run(command);
  // psql ends with 0 when a statement of a file has failed.
  assertNotMatch(told, /^(psql:\S+ )?ERROR:/m);
  if (command.startsWith("curl")) assertMatch(told, /"success":true/);
  if (command.endsWith("doctor")) assertMatch(told, /No findings in \d+ checks/);
  if (/token create|token rotate/.test(command)) assert(keepToken(told, shell), told);
}

/** The first token is the one that documents name by its id, the last the one that is used. */
function keepToken(told: string, { replace, variables }: Shell): boolean {
  const [token, id] = TOKEN.exec(told) ?? [];
  if (token === undefined) return false;
  variables.set("TOKEN", token);
  replace.set("rg_…", token);
  if (!replace.has(ID)) replace.set(ID, id!);
  return true;
}

/** The server gives rows to a token of its database, old or new. */
async function checkServer({ address, told }: Shell): Promise<void> {
  const statuses = await Promise.all(
    [...told().matchAll(TOKENS)].map(async ([token]) => {
      const answer = await fetch(`${address}/integration/tables/customers/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: '{"per_page":1}',
      });
      return [answer.status, (await answer.json()).records?.length].join(" ");
    }),
  );
  assert(statuses.includes("200 1"), statuses.join());
}

async function typeSql({ text }: Block, { run }: Shell): Promise<number> {
  // A role is made without a password; the page says how to give it one.
  const [, role] = /^create role (\w+)/.exec(text) ?? [];
  await run(`psql -q -v ON_ERROR_STOP=1 "$OWNER_URL" <<'END'\n${text}\nEND`);
  if (role !== undefined) await run(`psql "$OWNER_URL" -c '\\password ${role}'`);
  return 1;
}

/** How the service is started on each runtime, by the table, where the packages are installed. */
function listStarts(markdown: string): string[] {
  const table = markdown.slice(
    markdown.indexOf("## Install"),
    markdown.indexOf("## Read on"),
  );
  return [...table.matchAll(/^\|[^|]*\| `([^`]+)` +\|$/gm)]
    .map(([, command = ""]) => command.replace("npm install && ", ""));
}

/** What the serving role connects with, behind `postgres://`. */
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

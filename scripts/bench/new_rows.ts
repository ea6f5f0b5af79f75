/**
 * Compares what creates, upserts and deletes rows, side by side: Rowgate on each runtime, PostgREST and a
 * handler that only runs the statement. `deno run -A scripts/bench/new_rows.ts [--rounds=5] [--seconds=1]`
 * prints the medians of requests/s as multiples of PostgREST's, for 1, 16 and 64 clients. All are loaded in
 * turns; before each turn the table has the same rows.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { makeBundle } from "../install_packages.ts";
import { COMMANDS } from "../../test/support/runtime_server.ts";
import { startCluster } from "./cluster.ts";
import type { Ask } from "./contender.ts";
import { startPostgrest } from "./postgrest.ts";
import { capture, findFreePort, launch, until } from "./processes.ts";
import { printTable } from "./report.ts";
import { startRowgate } from "./rowgate.ts";
import { sendTimed } from "./timed_client.ts";

const DATABASE = "bench_new_rows";
const TABLE = `
  create table contacts (id int8);
  create table items (
    id int8 generated always as identity, tenant_id int8 not null, ref text not null,
    name text not null, email text, score int4 not null default 0,
    created_at timestamptz not null default now(),
    primary key (tenant_id, id), unique (tenant_id, ref));
  create index on items (tenant_id, created_at);
  grant select, insert, update, delete on items, contacts to app;`;
/** Rows of the tenant before each turn; those of nine others lie between them. */
const ROWS = 20_000;
const FILL = `
  truncate items restart identity;
  insert into items (tenant_id, ref, name, email)
    select 1 + n % 10, 'old-' || n / 10, 'Contact ' || n, 'contact.' || n || '@example.org'
    from generate_series(0, ${10 * ROWS - 1}) n;
  vacuum analyze items;`;
const MANY = 200;
const CONCURRENCIES = [1, 16, 64];
/** More than any contender sends in a second. */
const MOST: Readonly<Record<Work, number>> = {
  "create 1": 9000,
  "create 200": 400,
  "upsert 200": 400,
  "delete by key": 9000,
};

type Work = "create 1" | "create 200" | "upsert 200" | "delete by key";
const WORKS = Object.keys(MOST) as Work[];

/** A row as clients send it. */
interface Item {
  readonly ref: string;
  readonly name: string;
  readonly email: string;
  readonly score: number;
}

/** One of those that are compared. */
interface Subject {
  readonly name: string;
  readonly address: string;
  readonly create: (items: readonly Item[]) => Ask;
  readonly upsert: (items: readonly Item[]) => Ask;
  readonly remove: (id: number) => Ask;
  readonly stop: () => Promise<void>;
}

const JSON_TYPE = { "Content-Type": "application/json" };

function makeItems(number: number, count: number, old: number): Item[] {
  return Array.from({ length: count }, (_, at) => ({
    ref: at < old ? `old-${(number * 7919 + at) % ROWS}` : `new-${number}-${at}`,
    name: `Contact ${number}`,
    email: `contact.${number}.${at}@example.org`,
    score: number % 100,
  }));
}

function describeWork(work: Work, subject: Subject): Ask[] {
  return Array.from({ length: MOST[work] }, (_, number) => {
    switch (work) {
      case "create 1":
        return subject.create(makeItems(number, 1, 0));
      case "create 200":
        return subject.create(makeItems(number, MANY, 0));
      case "upsert 200":
        return subject.upsert(makeItems(number, MANY, MANY / 2));
      case "delete by key":
        // Rows of the tenant have each tenth number.
        return subject.remove(1 + 10 * number);
    }
  });
}

async function openRowgate(
  runtime: "deno" | "bun" | "node",
  { databaseUrl, folder }: { readonly databaseUrl: string; readonly folder: string },
): Promise<Subject> {
  const words = ["token", "create", "--tenant", "1", "--scope", "query,update,create,delete"];
  const token = (await capture([...COMMANDS.deno, ...words], { DATABASE_URL: databaseUrl })).trim();
  const { name, address, stop } = await startRowgate(runtime, {
    ...{ databaseUrl, folder, tokens: new Map() },
  });
  const headers = { ...JSON_TYPE, "Authorization": `Bearer ${token}` };
  const path = "/integration/tables/items/records";
  const ask = (method: string, path: string, body: unknown): Ask => ({
    ...{ method, path, headers, body: JSON.stringify(body) },
  });
  return {
    ...{ name, address, stop },
    create: (records) => ask("POST", path, { records }),
    upsert: (records) => ask("PUT", path, { match: ["ref"], records }),
    remove: (id) => ask("DELETE", `${path}/single`, { filters: { id } }),
  };
}

/** It returns the keys, as Rowgate does, and deletes one row or none. */
async function openPostgrest(databaseUrl: string, folder: string): Promise<Subject> {
  const { name, address, stop } = await startPostgrest(databaseUrl, folder);
  const own = (items: readonly Item[]) =>
    JSON.stringify(items.map((item) => ({ tenant_id: 1, ...item })));
  const post = (path: string, prefer: string, body: string): Ask => ({
    ...{ method: "POST", path, headers: { ...JSON_TYPE, "Prefer": prefer }, body },
  });
  return {
    ...{ name, address, stop },
    create: (items) => post("/items?select=id", "return=representation", own(items)),
    upsert: (items) =>
      post(
        "/items?select=id&on_conflict=tenant_id,ref",
        "resolution=merge-duplicates,return=representation",
        own(items),
      ),
    remove: (id) => ({
      method: "DELETE",
      path: `/items?tenant_id=eq.1&id=eq.${id}&select=id`,
      headers: {
        "Accept": "application/vnd.pgrst.object+json",
        "Prefer": "return=representation",
      },
      body: "",
    }),
  };
}

const INSERT = `insert into items (tenant_id, ref, name, email, score)
  select 1, ref, name, email, score
  from json_to_recordset($1::text::json) as given (ref text, name text, email text, score int4)`;
const STATEMENTS = {
  "/create": `with done as (${INSERT} returning id) select count(*) as updated from done`,
  "/upsert": `with done as (${INSERT} on conflict (tenant_id, ref) do update
    set name = excluded.name, email = excluded.email, score = excluded.score returning id)
    select count(*) as updated from done`,
  "/delete": `with done as (delete from items where tenant_id = 1 and id = $1::int8 returning id)
    select count(*) as updated from done`,
};

async function openNaive(databaseUrl: string, folder: string): Promise<Subject> {
  const port = await findFreePort();
  const file = join(folder, "statements.json");
  await writeFile(file, JSON.stringify(STATEMENTS));
  const environment = { PORT: String(port), DATABASE_URL: databaseUrl, STATEMENTS: file };
  const command = ["deno", "run", "-A", "--no-check", "scripts/bench/bare_server.js"];
  const child = launch([COMMANDS.deno[0]!, ...command.slice(1)], { environment });
  const address = `http://127.0.0.1:${port}`;
  const ask = (path: string, value: unknown): Ask => ({
    ...{ method: "POST", path, headers: JSON_TYPE, body: JSON.stringify({ values: [value] }) },
  });
  await until(async () => {
    const { path, ...request } = ask("/delete", -1);
    return (await fetch(address + path, request)).ok;
  }, child);
  return {
    ...{ name: "bare deno", address, stop: () => child.stop() },
    create: (items) => ask("/create", JSON.stringify(items)),
    upsert: (items) => ask("/upsert", JSON.stringify(items)),
    remove: (id) => ask("/delete", id),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function readNumber(name: string, otherwise: number): number {
  const word = process.argv.find((each) => each.startsWith(`--${name}=`));
  return word === undefined ? otherwise : Number(word.slice(name.length + 3));
}

await makeBundle();
const rounds = readNumber("rounds", 5);
const seconds = readNumber("seconds", 1);
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
const subjects: Subject[] = [];
try {
  const server = cluster.connect("postgres");
  await server.unsafe(`drop database if exists ${DATABASE} with (force)`);
  await server.unsafe(`create database ${DATABASE}`);
  await server.unsafe(`grant create on database ${DATABASE} to app`);
  await server.end();
  const sql = cluster.connect(DATABASE);
  await sql.unsafe(TABLE);
  const databaseUrl = cluster.url(DATABASE, "app");
  for (const runtime of ["deno", "bun", "node"] as const) {
    subjects.push(await openRowgate(runtime, { databaseUrl, folder }));
  }
  subjects.push(await openPostgrest(databaseUrl, folder), await openNaive(databaseUrl, folder));
  const rows: string[][] = [];
  for (const work of WORKS) {
    const asks = new Map(subjects.map((subject) => [subject, describeWork(work, subject)]));
    // What a service compiles while it runs, it has compiled before it is measured.
    for (const subject of subjects) {
      for (const statement of FILL.split(";")) await sql.unsafe(statement);
      const { address } = subject;
      await sendTimed({
        ...{ address, asks: asks.get(subject)!, concurrency: 16, seconds: 3 * seconds, from: 0 },
        count: MOST[work],
      });
    }
    for (const concurrency of CONCURRENCIES) {
      const rates = new Map(subjects.map((subject) => [subject, [] as number[]]));
      for (let round = 0; round < rounds; round++) {
        for (const subject of subjects) {
          for (const statement of FILL.split(";")) await sql.unsafe(statement);
          const timings = await sendTimed({
            ...{
              address: subject.address,
              asks: asks.get(subject)!,
              concurrency,
              seconds,
              from: 0,
            },
            count: MOST[work],
          });
          const spanMs = Math.max(...timings.map(({ startMs, tookMs }) => startMs + tookMs)) -
            timings[0]!.startMs;
          rates.get(subject)!.push(timings.length / spanMs * 1000);
        }
      }
      const medians = subjects.map((subject) => median(rates.get(subject)!));
      const peer = medians[3]!;
      rows.push([
        work,
        String(concurrency),
        ...medians.map((rate) => rate.toFixed(0)),
        ...medians.slice(0, 3).map((rate) => (rate / peer).toFixed(2)),
      ]);
      console.log(rows.at(-1)!.join("  "));
    }
  }
  await sql.end();
  const names = subjects.map(({ name }) => name);
  console.log(
    printTable(
      ["work", "clients", ...names, ...names.slice(0, 3).map((name) => `× ${name}`)],
      rows,
    ),
  );
  for (const place of [0, 1, 2]) {
    const ratios = rows.map((row) => Number(row[2 + names.length + place]));
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    console.log(
      `${names[place]}: ${mean.toFixed(2)} × PostgREST in the mean, ${
        Math.min(...ratios)
      } at least`,
    );
  }
} finally {
  await Promise.all(subjects.map(({ stop }) => stop()));
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/**
 * The floor: the runtime's own server, `JSON.parse`, one prepared statement, no checks. Plain
 * JavaScript, because Node 20 runs it. The environment says what it serves: a port, a database,
 * and the file of a statement for each path.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import postgres from "postgres";

const { PORT, DATABASE_URL, STATEMENTS } = process.env;
const statements = JSON.parse(readFileSync(STATEMENTS, "utf8"));
// A page is passed on as Postgres printed it; the driver would parse it.
const types = { json: { to: 114, from: [114], serialize: String, parse: String } };
const sql = postgres(DATABASE_URL, { max: 10, fetch_types: false, types });
const port = Number(PORT);
const hostname = "127.0.0.1";
const headers = { "content-type": "application/json; charset=utf-8" };

async function answer(path, text) {
  const { values } = JSON.parse(text);
  const [row] = await sql.unsafe(statements[path], values, { prepare: true });
  if (row.records === undefined) {
    return `{"success":true,"updated":${Number(row.updated)}}`;
  }
  return `{"success":true,"total":${row.total},"records":${row.records}}`;
}

const fetch = async (request) => {
  const path = request.url.slice(request.url.lastIndexOf("/"));
  return new Response(await answer(path, await request.text()), { headers });
};

if (globalThis.Deno !== undefined) {
  globalThis.Deno.serve({ port, hostname, onListen() {} }, fetch);
} else if (globalThis.Bun !== undefined) {
  globalThis.Bun.serve({ port, hostname, fetch });
} else {
  createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      try {
        const text = await answer(request.url, chunks.join(""));
        const length = new TextEncoder().encode(text).length;
        response.writeHead(200, { ...headers, "content-length": length }).end(text);
      } catch {
        // As the servers of Deno and Bun do.
        response.writeHead(500).end();
      }
    });
  }).listen(port, hostname);
}

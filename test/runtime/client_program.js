/**
 * What a program does with the client as it is shipped: run on each runtime, with address and token,
 * against a server. Prints what came of it.
 */
import process from "node:process";
// Not an import of the module, since a fresh clone has not made the file yet when its types are checked.
const shipped = new URL("../../dist/client.js", import.meta.url).href;
const { createClient, isRowgateError } = await import(shipped);

const [url, token] = process.argv.slice(2);
const client = createClient({ url, token });
const controller = new AbortController();
const found = { keys: [], polled: [] };

const { token: described } = await client.token();
found.tenant = described.tenant;
const request = { select: ["fid"], per_page: 7 };
for await (const { fid } of client.records("deals", request)) found.keys.push(fid);

const update = { filters: { fid: 7 }, fields: { note: "client" } };
found.updated = await client.updateSingle("deals", update);
found.bulk = await client.updateBulk("deals", {
  filters: { note: "client" },
  fields: { code: "Z" },
}, {
  rollback: true,
});
const rejected = await client.updateSingle("deals", {
  filters: { closed: true },
  fields: { code: "Z" },
});
found.matched = [rejected.error.status, rejected.error.matched, isRowgateError(rejected.error)];
const filters = { fid: undefined, closed: true };
found.unsent = await client.updateBulk("deals", { filters, fields: { code: "Z" } })
  .catch(({ path, attempts }) => [path, attempts]);
const wrong = await client.query("deals", {
  filters: { and: [{ field: "fid", op: "eq", value: "x" }] },
});
found.paths = wrong.error.paths;

const options = { by: "modified_at", everySeconds: 0.01, signal: controller.signal };
for await (const { records } of client.poll("deals", request, options)) {
  found.polled.push(...records.map(({ fid }) => fid));
  if (found.polled.length === 60) {
    await client.updateSingle("deals", { filters: { fid: 3 }, fields: { note: "again" } });
  }
  if (found.polled.length > 60) controller.abort();
}

// The connection of the first stream breaks off when the program has seen all guests.
const [breaking, following] = [new AbortController(), new AbortController()];
const breakable = createClient({
  url,
  token,
  fetch: (address, init) => {
    const signals = [init.signal, breaking.signal.aborted ? undefined : breaking.signal];
    return fetch(address, { ...init, signal: AbortSignal.any(signals.filter(Boolean)) });
  },
});
const rename = (id, name) => client.updateSingle("guests", { filters: { id }, fields: { name } });
const events = breakable.follow("guests", {
  select: ["name"],
  signal: following.signal,
  onError: ({ status }) => found.followed.push(status),
});
found.followed = [];
let caughtUp = 0;
let cursor;
for await (const event of events) {
  cursor = event.cursor ?? cursor;
  if (event.type !== "caught_up") found.followed.push([event.key.id, event.record.name]);
  else if (++caughtUp === 1) await rename(2, "while it is open");
  else if (caughtUp === 2) {
    breaking.abort();
    await rename(3, "while it is closed");
  } else following.abort();
}
await rename(4, "later");
for await (const batch of client.poll("guests", { select: ["name"] }, { from: { cursor } })) {
  found.later = [batch.exact, batch.records];
  break;
}

const unreachable = createClient({ url: "http://127.0.0.1:1", token, retries: 1 });
const { error } = await unreachable.tables();
found.unreachable = [error.status, error.attempts];
console.log(JSON.stringify(found));

import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { makeCertificate } from "../../support/certificate.ts";
import type { Answer } from "../../support/receiver.ts";
import { type Holder, type Hook, type Hooks, openHooks } from "./open_hooks.ts";

const MEGABYTE = new Uint8Array(1_048_576).fill(120);

/** What a receiver does, and how the attempt ends. */
interface Case {
  readonly name: string;
  readonly answer: Answer;
  /** Null: the message counts as received. */
  readonly error: RegExp | null;
}

const CASES: readonly Case[] = [
  { name: "hangs", answer: () => {}, error: /^no answer within 0.5 s$/ },
  {
    name: "sends a head and then hangs",
    answer: (response) => void response.writeHead(200).write("x"),
    error: null,
  },
  {
    name: "sends a head one byte at a time",
    answer: (response) => {
      const bytes = [..."HTTP/1.1 200 OK\r\nX: "];
      const timer = setInterval(() => response.socket?.write(bytes.shift() ?? "x"), 20);
      response.socket?.on("close", () => clearInterval(timer));
    },
    error: /^no answer within 0.5 s$/,
  },
  {
    name: "breaks the connection off",
    answer: (response) => void response.socket?.destroy(),
    error: /^the connection failed or was cut off$/,
  },
  {
    name: "answers with what is no HTTP",
    answer: (response) => void response.socket?.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"),
    error: /^the connection failed or was cut off$/,
  },
  { name: "answers 500", answer: 500, error: /^status 500$/ },
  { name: "answers 404", answer: 404, error: /^status 404$/ },
  {
    name: "redirects to a host of the list",
    answer: (response, request) =>
      void response.writeHead(307, { location: `https://${request.headers.host}/stolen` }).end(),
    error: /^status 307$/,
  },
  {
    name: "redirects to the metadata of a cloud",
    answer: (response) =>
      void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
    error: /^status 302$/,
  },
  {
    name: "answers 200 with 10 MB",
    answer: (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      for (let sent = 0; sent < 10; sent++) response.write(MEGABYTE);
      response.end();
    },
    error: null,
  },
  {
    name: "answers 200 without end",
    answer: (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(MEGABYTE), 5);
      response.on("close", () => clearInterval(timer));
    },
    error: null,
  },
  {
    name: "answers 500 with a text that must not be shown",
    answer: (response) => void response.writeHead(500, "root:x:0:0").end("secret of the receiver"),
    error: /^status 500$/,
  },
];

describe("webhooks with bad receivers", () => {
  let hooks: Hooks;
  let holder: Holder;

  before(async () => {
    hooks = await openHooks();
    holder = await hooks.issue();
    hooks.start();
  });
  after(() => hooks?.close());

  for (const { name, answer, error } of CASES) {
    it(`takes ${error === null ? "as delivered" : "as failed"} what one gets that ${name} [WH23] [WH24]`, async () => {
      const hook = await hooks.hook(holder);
      hooks.receiver.answer(hook.path, answer);
      hooks.source.change("1", "deals", { id: 1 });
      if (error === null) {
        await hooks.until(hook, (row) => Number(row["delivered"]) === 1);
      } else {
        await hooks.until(hook, (row) => row["last_error"] !== null);
        assertMatch(String((await hooks.row(hook))["last_error"]), error);
        hooks.receiver.answer(hook.path, 200);
        await hooks.pass(hook, 5);
        await hooks.until(hook, (row) => Number(row["delivered"]) === 1);
      }
      assertEquals(hooks.receiver.at("/stolen"), []);
      assertEquals(hooks.receiver.faults, []);
      const shown = JSON.stringify([await hooks.row(hook), hooks.observations]);
      assert(!/root:x|secret of the receiver|SSH/.test(shown));
      await remove(hook);
    });
  }

  it("sends nothing to one whose certificate is not for it, whatever its name resolves to [SF4]", async () => {
    // As where a name of the list leads to a server inside: that has no certificate for the name.
    const other = await makeCertificate({ name: "Another authority" });
    const client = Deno.createHttpClient({ caCerts: [other.certificate] });
    const trusting = hooks.start({
      schema: "inside",
      fetch: (url, init) => fetch(url, { ...init, client } as RequestInit),
    });
    // The other instance, which trusts the receiver, has nothing to do with it.
    const hook = await hooks.hook(holder, { schema: "inside" });
    hooks.source.change("1", "deals", { id: 2 });
    await hooks.until(hook, (row) => row["last_error"] !== null);
    assertEquals((await hooks.row(hook))["last_error"], "the connection failed or was cut off");
    assertEquals(hooks.receiver.at(hook.path), []);
    await hooks.stop(trusting);
    client.close();
    await remove(hook);
  });

  it("delays no other webhook, of the same tenant or of others [WH25]", async () => {
    const other = await hooks.issue("2");
    const slow: Hook[] = [];
    for (let count = 0; count < 12; count++) slow.push(await hooks.hook(holder));
    for (const { path } of slow) hooks.receiver.answer(path, () => {});
    const [good, foreign] = [await hooks.hook(holder), await hooks.hook(other)];
    const attempts = () => slow.map(({ path }) => hooks.receiver.at(path).length);
    hooks.source.change("1", "deals", { id: 3 });
    hooks.source.change("2", "deals", { id: 4 });
    await hooks.messages(foreign, 1);
    // Four at a time: another tenant does not wait until all have had their turn,
    assert(attempts().filter((count) => count > 0).length <= 8, `${attempts()}`);
    await hooks.messages(good, 1);
    // and the thirteenth is served before any has a second one.
    assert(attempts().every((count) => count <= 1), `${attempts()}`);
    for (const hook of [...slow, good, foreign]) await remove(hook);
  });

  it("loses nothing for a receiver that is back after an hour [WH13]", async () => {
    const hook = await hooks.hook(holder);
    hooks.receiver.answer(hook.path, (response) => void response.socket?.destroy());
    const ids: number[] = [];
    for (const seconds of [5, 300, 1800, 7200]) {
      ids.push(100 + ids.length);
      hooks.source.change("1", "deals", { id: ids.at(-1) });
      const attempts = ids.length;
      await hooks.until(hook, (row) => row["failed_attempts"] === attempts);
      if (attempts === 4) hooks.receiver.answer(hook.path, 200);
      await hooks.pass(hook, seconds);
    }
    await hooks.until(hook, (row) => Number(row["delivered"]) === 2);
    const received = new Map(hooks.receiver.at(hook.path).map((each) => [each.id, each]));
    const sent = [...received.values()].flatMap(({ body }) => body.data.changes);
    assertEquals(sent.map(({ key }) => key["id"]), ids);
    await remove(hook);
  });

  async function remove({ id }: Hook): Promise<void> {
    await hooks.test.admin`delete from rowgate.webhooks where id = ${id}`;
  }
});

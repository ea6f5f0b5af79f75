import { assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chooseStd } from "../../scripts/choose_std.ts";

const STAND_INS = ["--import-map=test/support/std/stand_ins.json"];
const FROM_JSR = ["--import-map=test/support/std/jsr.json", "--no-lock"];

describe("the choice of @std", () => {
  let server: Server;
  let address: string;

  before(async () => {
    server = createServer(({ url }, response) => {
      if (url !== "/silent") response.writeHead(url === "/found" ? 200 : 404).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  it("is JSR where it responds", async () => {
    const chosen = await chooseStd([], { url: `${address}/found`, timeoutMs: 10_000 });
    assertEquals(chosen, { words: FROM_JSR, fromJsr: true });
  });

  it("is the stand-ins where it responds with an error or is not there", async () => {
    for (const url of [`${address}/missing`, "http://127.0.0.1:1/"]) {
      const chosen = await chooseStd([], { url, timeoutMs: 10_000 });
      assertEquals(chosen, { words: STAND_INS, fromJsr: false });
    }
  });

  it("is the stand-ins where it does not respond in time", async () => {
    const chosen = await chooseStd([], { url: `${address}/silent`, timeoutMs: 50 });
    assertEquals(chosen, { words: STAND_INS, fromJsr: false });
  });

  it("is what the command line says, without asking", async () => {
    const probe = { url: `${address}/silent`, timeoutMs: 60_000 };
    assertEquals((await chooseStd(["test/unit", "--std=jsr"], probe)).words, FROM_JSR);
    assertEquals((await chooseStd(["--std=stand-ins"], probe)).words, STAND_INS);
    await assertRejects(() => chooseStd(["--std=npm"], probe), Error, "jsr or stand-ins");
  });
});

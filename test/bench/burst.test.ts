import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compareBurst, FIRST, printBursts } from "../../scripts/bench/burst_report.ts";
import { readStatus, sendTimed } from "../../scripts/bench/timed_client.ts";

const OK = "HTTP/1.1 200 OK\r\n";

/** The first 200 take 30 ms, two of them 90; later ones 10. */
const TIMINGS = Array.from({ length: 1000 }, (_, index) => ({
  number: index,
  startMs: index * 5,
  tookMs: index >= FIRST ? 10 : index % 100 === 7 ? 90 : 30,
}));

describe("the burst benchmark", () => {
  it("knows when a response is whole", () => {
    assertEquals(readStatus(""), undefined);
    assertEquals(readStatus(`${OK}Content-Length: 5\r\n\r\nabcd`), undefined);
    assertEquals(readStatus(`${OK}content-length: 5\r\n\r\nabcde`), 200);
    assertEquals(readStatus(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n`), undefined);
    assertEquals(readStatus(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`), 200);
    assertEquals(readStatus("HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n"), 204);
  });

  it("compares the first requests with those of a second later", () => {
    const { first, steady } = compareBurst(TIMINGS);
    assertEquals([first, steady], [{ p50: 30, p99: 30 }, { p50: 10, p99: 10 }]);
    const slower = TIMINGS.map((timing, index) =>
      index === 50 ? { ...timing, tookMs: 90 } : timing
    );
    assertEquals(compareBurst(slower).first.p99, 90);
    assertThrows(() => compareBurst(TIMINGS.slice(0, FIRST)));
  });

  it("marks what misses a goal, for Rowgate only", () => {
    const burst = { work: "Q1", quietSeconds: 120, ...compareBurst(TIMINGS) } as const;
    const lines = ["rowgate deno", "bare deno"].map((contender) =>
      printBursts([{ ...burst, contender }]).split("\n")[2]!
    );
    assertEquals(lines.map((line) => line.split("**3.00**").length - 1), [2, 0]);
  });

  it("sends with so many clients and times each request", async () => {
    const bodies = new Set<string>();
    const peers = new Set<number>();
    const server = createServer((request, response) => {
      peers.add(request.socket.remotePort!);
      const chunks: string[] = [];
      request.setEncoding("utf8").on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        bodies.add(chunks.join(""));
        setTimeout(() => response.end("answer"), 5);
      });
    });
    const address = await listen(server);
    const ask = { method: "PATCH", path: "/x", headers: {}, body: '{"visits":12345678}' };
    const timings = await sendTimed({
      address,
      asks: [ask],
      concurrency: 3,
      seconds: 0.3,
      from: 7,
    });
    server.close();
    assertEquals(peers.size, 3);
    assertEquals(bodies.size, timings.length);
    assertEquals(bodies.has('{"visits":10000007}'), true);
    assertEquals(timings.every(({ tookMs }) => tookMs >= 4), true);
    assertEquals(timings, timings.toSorted((a, b) => a.startMs - b.startMs));
  });
});

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    })
  );
}

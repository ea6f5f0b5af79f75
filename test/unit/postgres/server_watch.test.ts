import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeFailure } from "../../../src/database/postgres/database_error.ts";
import type { ServerIdentity } from "../../../src/database/postgres/opening_statement.ts";
import { type FoundServer, ServerWatch } from "../../../src/database/postgres/primary.ts";
import type { Session } from "../../../src/database/postgres/session.ts";

const HOSTS = ["a", "b", "c"].map((host) => ({ host, port: 5432 }));

describe("ServerWatch", () => {
  function watch(addresses: typeof HOSTS, servers: Readonly<Record<string, ServerIdentity>>) {
    const learnt: (readonly FoundServer[])[] = [];
    let closed = 0;
    const subject = new ServerWatch({
      addresses,
      open(address, meet) {
        const server = "host" in address ? servers[address.host] : undefined;
        if (server === undefined) return Promise.resolve(makeFailure("unavailable", "GONE"));
        meet(server);
        return Promise.resolve({ close: () => closed++ } as unknown as Session);
      },
      learn: (found) => learnt.push(found),
    });
    return { subject, learnt, closed: () => closed };
  }

  it("looks at all hosts before the first session is used, and leaves none open [M32]", async () => {
    const [old, newer] = [{ system: "7", timeline: 1 }, { system: "7", timeline: 2 }];
    const { subject, learnt, closed } = watch(HOSTS, { a: old, c: newer });
    await Promise.all([subject.ready(), subject.ready()]);
    subject.close();
    assertEquals(learnt, [[{ ...old, name: "a:5432" }, { ...newer, name: "c:5432" }]]);
    assertEquals(closed(), 2);
  });

  it("does not look at a host that is the only one [M32]", async () => {
    const { subject, learnt } = watch(HOSTS.slice(0, 1), { a: { system: "7", timeline: 1 } });
    await subject.ready();
    assertEquals(learnt, []);
  });
});

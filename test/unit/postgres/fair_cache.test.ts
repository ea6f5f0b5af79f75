import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openFairCache } from "../../../src/database/postgres/fair_cache.ts";

interface Named {
  readonly name: string;
}

function open(size: number) {
  const cache = openFairCache<Named>(size);
  const use = (name: string, tenant?: string) =>
    cache.get(name, tenant) ?? cache.add(name, { name }, tenant);
  const names = () => [...cache.values()].map(({ name }) => name).sort().join(" ");
  return { ...cache, use, names };
}

describe("openFairCache", () => {
  it("gives up what was not used for longest", () => {
    const cache = open(3);
    for (const name of ["a", "b", "c", "a"]) cache.use(name);
    assertEquals(cache.add("d", { name: "d" }, undefined)?.name, "b");
    assertEquals(cache.names(), "a c d");
  });

  it("takes from the tenant that holds most, and nothing from those that hold less [P12]", () => {
    const cache = open(10);
    for (let place = 0; place < 10; place++) cache.use(`flood ${place}`, "1");
    for (let place = 0; place < 4; place++) cache.use(`b${place}`, "2");
    for (let place = 10; place < 10_000; place++) cache.use(`flood ${place}`, "1");
    const flood = [4, 5, 6, 7, 8, 9].map((digit) => `flood 999${digit}`).join(" ");
    assertEquals(cache.names(), `b0 b1 b2 b3 ${flood}`);
  });

  it("gives each of several floods an equal share", () => {
    const cache = open(30);
    for (let place = 0; place < 3000; place++) cache.use(`${place}`, String(place % 3));
    const counts = [0, 0, 0];
    for (const { name } of cache.values()) counts[Number(name) % 3]!++;
    assertEquals(counts, [10, 10, 10]);
  });

  it("counts what several tenants use for the one that holds least", () => {
    const cache = open(6);
    for (const name of ["shared", "a1", "a2", "a3", "a4"]) cache.use(name, "1");
    cache.use("shared", "2");
    // The flood uses it as well, and cannot take it with it.
    for (let place = 0; place < 100; place++) cache.use(`a${place + 5}`, "1");
    cache.use("shared", "1");
    for (let place = 0; place < 100; place++) cache.use(`a${place + 105}`, "1");
    assertEquals(cache.get("shared", "2")?.name, "shared");
  });

  it("gives as many tenants as there is room for one each, and the least recent one up", () => {
    const cache = open(3);
    for (const tenant of ["1", "2", "3", "1", "4"]) cache.use(`of ${tenant}`, tenant);
    assertEquals(cache.names(), "of 1 of 3 of 4");
  });

  it("holds no longer what was taken", () => {
    const cache = open(2);
    for (const name of ["a", "b"]) cache.use(name, "1");
    assertEquals(cache.take("a")?.name, "a");
    assertEquals([cache.take("a"), cache.names()], [undefined, "b"]);
    // Its place and the tenant's share are free again.
    assertEquals(cache.add("c", { name: "c" }, "1"), undefined);
    assertEquals(cache.names(), "b c");
  });
});

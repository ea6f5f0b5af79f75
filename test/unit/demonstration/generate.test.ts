import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { generateShop, printCents } from "../../../src/cli/demonstration/generate.ts";
import { seedRandom } from "../../../src/cli/demonstration/random.ts";
import { SHOPS } from "../../../src/cli/demonstration/shops.ts";

const [acme, globex] = SHOPS.map(generateShop);

describe("generateShop", () => {
  it("generates the same rows each time [R4]", () => {
    assertEquals(JSON.stringify(SHOPS.map(generateShop)), JSON.stringify([acme, globex]));
  });

  it("gives the two shops no keys in common", () => {
    const known = new Set(acme?.orders.map((row) => row.id));
    assertEquals(globex?.orders.filter((row) => known.has(row.id)), []);
  });

  it("makes every total the sum of the order's lines", () => {
    for (const rows of [acme, globex]) {
      const cents = new Map<unknown, number>();
      for (const line of rows?.order_lines ?? []) {
        const price = Number(String(line.unit_price).replace(".", ""));
        cents.set(line.order_id, (cents.get(line.order_id) ?? 0) + price * Number(line.quantity));
      }
      const wrong = rows?.orders.filter((row) => printCents(cents.get(row.id) ?? 0) !== row.total);
      assertEquals(wrong, []);
    }
  });

  it("generates no digest that could be real", () => {
    for (const row of acme?.user_passwords ?? []) {
      assert(String(row.digest).startsWith("not-a-real-digest-"));
    }
  });
});

describe("seedRandom", () => {
  it("stays within both bounds and reaches them", () => {
    const random = seedRandom(1);
    const seen = new Set(Array.from({ length: 1000 }, () => random.integer(3, 6)));
    assertEquals([...seen].sort(), [3, 4, 5, 6]);
  });
});

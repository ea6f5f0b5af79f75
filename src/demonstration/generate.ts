import { COUNTRIES, FAMILY_NAMES, GIVEN_NAMES } from "./places.ts";
import { printCents, printTime } from "./print.ts";
import type { Random } from "./random.ts";
import { seedRandom } from "./random.ts";
import { generateOrders } from "./generate_orders.ts";
import type { Row } from "./row.ts";
import type { Shop } from "./shops.ts";

/** Rows of one shop by table, members named as the columns; money and times as text. */
export type ShopRows = Readonly<Record<ShopTable, readonly Row[]>>;

/** The tables that each shop has rows in, in the order in which they can be filled. */
export type ShopTable = "customers" | "products" | "orders" | "order_lines" | "user_passwords";

/** Generates all rows of a shop: the same ones each time, with totals that add up. */
export function generateShop(shop: Shop): ShopRows {
  const random = seedRandom(shop.seed);
  const customers = Array.from(
    { length: shop.customers },
    (_, index) => generateCustomer(shop, index, random),
  );
  const products = shop.articles.flatMap((article) =>
    shop.makes.map(([make, percent]) => ({
      ...article,
      make,
      // Shop prices: whole euro and 90 cents.
      priceCents: Math.round(article.price * percent / 100) * 100 - 10,
    }))
  ).map((product, index) => ({ ...product, id: shop.firstId + index }));
  return {
    customers,
    products: products.map((product) => ({
      id: product.id,
      tenant_id: shop.tenant,
      sku: `${product.category.slice(0, 3).toUpperCase()}-${String(product.id % 100000 + 100)}`,
      name: `${product.name} ${product.make}`,
      category: product.category,
      price: printCents(product.priceCents),
      stock: random.chance(8) ? 0 : random.integer(1, 180),
      weight_grams: product.weightGrams,
      discontinued: random.chance(6),
      modified_at: printTime(Date.UTC(2026, 0, 5, 7) + product.id % 1000 * 61_000, random),
    })),
    ...generateOrders(shop, products, random),
    user_passwords: ["office", "warehouse", "accounts"].map((user_name) => ({
      tenant_id: shop.tenant,
      user_name,
      digest: `not-a-real-digest-${shop.tenant}-${user_name}`,
      changed_at: printTime(Date.UTC(2026, 0, 2, 9), random),
    })),
  };
}

function generateCustomer(shop: Shop, index: number, random: Random): Row {
  const given = random.pick(GIVEN_NAMES);
  const family = random.pick(FAMILY_NAMES);
  const country = random.pick(COUNTRIES);
  const since = Date.UTC(2026, 0, 1) + random.integer(0, 119) * DAY_MS;
  return {
    id: shop.firstId + index,
    tenant_id: shop.tenant,
    name: `${given} ${family}`,
    email: `${fold(given)}.${fold(family)}.${index + 1}@example.com`,
    country_code: country.code,
    city: random.pick(country.cities),
    credit_limit: random.chance(25) ? null : printCents(random.integer(2, 40) * 25_000),
    newsletter: random.chance(55),
    tags: TAGS.filter(() => random.chance(20)),
    customer_since: new Date(since).toISOString().slice(0, 10),
    modified_at: printTime(since + random.integer(8 * 3600, 18 * 3600) * 1000, random),
  };
}

const DAY_MS = 86_400_000;
const TAGS = ["business", "loyal", "fair-2026", "phone-orders"];

/** Spells a name with letters that fit into an address. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("ø", "o").normalize("NFD").replace(/[^a-z]/g, "");
}

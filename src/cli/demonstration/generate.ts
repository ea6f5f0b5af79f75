import { COUNTRIES, FAMILY_NAMES, GIVEN_NAMES } from "./places.ts";
import { type Random, seedRandom } from "./random.ts";
import type { Shop } from "./shops.ts";

/** A row as JSON, with the names of its columns; money and times are text. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of a shop by table. */
export type ShopRows = Readonly<Record<ShopTable, readonly Row[]>>;

/** The tables in which each shop has rows, in the order in which they can be filled. */
export type ShopTable = "customers" | "products" | "orders" | "order_lines" | "user_passwords";

/** What an order needs to know about a product. */
interface Product {
  readonly id: number;
  readonly priceCents: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const FIRST_ORDER_MS = Date.UTC(2026, 0, 2, 8);
const LAST_ORDER_MS = Date.UTC(2026, 3, 30, 18);
const TAGS = ["business", "loyal", "fair-2026", "phone-orders"];
const CARRIERS = ["Northline", "Parcelbird", "City courier"];
const NOTES = [
  "Please ring twice",
  "Leave at the reception",
  "Gift, no invoice in the parcel",
  "Deliver after 5 pm",
  "Second delivery attempt",
];

/** Generates all rows of a shop: the same ones each time, with totals that add up. */
export function generateShop(shop: Shop): ShopRows {
  const random = seedRandom(shop.seed);
  const customers = Array.from(
    { length: shop.customers },
    (_, index) => generateCustomer(shop, index, random),
  );
  const products = shop.articles.flatMap((article) =>
    shop.variants.map(([variant, percent]) => ({
      ...article,
      variant,
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
      name: `${product.name} ${product.variant}`,
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

/** Spells a name with the letters of an email address. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("ø", "o").normalize("NFD").replace(/[^a-z]/g, "");
}

/** Generates the orders of a shop and their lines, oldest first. */
function generateOrders(
  shop: Shop,
  products: readonly Product[],
  random: Random,
): { readonly orders: readonly Row[]; readonly order_lines: readonly Row[] } {
  const orders: Row[] = [];
  const lines: Row[] = [];
  const step = (LAST_ORDER_MS - FIRST_ORDER_MS) / shop.orders;
  for (let index = 0; index < shop.orders; index++) {
    const id = shop.firstId + index;
    const placed = FIRST_ORDER_MS + Math.floor(index * step) + random.integer(0, 3000) * 1000;
    const ageHours = (LAST_ORDER_MS - placed) / HOUR_MS;
    const status = chooseStatus(ageHours, random);
    const sent = status === "shipped" || status === "delivered";
    const shipped = placed + random.integer(6, 40) * HOUR_MS;
    const own = generateLines(id, { shop, products, random });
    lines.push(...own.lines);
    orders.push({
      id,
      tenant_id: shop.tenant,
      order_no: `${shop.tenant.slice(0, 1).toUpperCase()}-2026-${
        String(index + 1).padStart(5, "0")
      }`,
      customer_id: shop.firstId + random.integer(0, shop.customers - 1),
      status,
      total: printCents(own.totalCents),
      ordered_on: new Date(placed).toISOString().slice(0, 10),
      shipped_at: sent ? printTime(shipped, random) : null,
      delivery: sent ? { carrier: random.pick(CARRIERS), parcels: random.integer(1, 2) } : null,
      note: random.chance(12) ? random.pick(NOTES) : null,
      modified_at: printTime((sent ? shipped : placed) + random.integer(60, 9000) * 1000, random),
    });
  }
  return { orders, order_lines: lines };
}

/** Chooses a status that fits the age of an order: most old ones are delivered. */
function chooseStatus(ageHours: number, random: Random): string {
  if (random.chance(4)) return "cancelled";
  if (ageHours < 48) return random.chance(15) ? "draft" : "placed";
  if (ageHours < 120) return random.pick(["placed", "paid", "paid"]);
  if (ageHours < 300) return random.pick(["paid", "shipped", "shipped"]);
  return random.chance(3) ? "shipped" : "delivered";
}

/** Generates one to five lines of different products. */
function generateLines(
  orderId: number,
  { shop, products, random }: {
    readonly shop: Shop;
    readonly products: readonly Product[];
    readonly random: Random;
  },
): { readonly lines: readonly Row[]; readonly totalCents: number } {
  const chosen = new Set<Product>();
  const wanted = random.pick([1, 1, 2, 2, 2, 3, 3, 5]);
  while (chosen.size < wanted) chosen.add(random.pick(products));
  let totalCents = 0;
  const lines = Array.from(chosen, (product, index) => {
    const quantity = random.pick([1, 1, 1, 2, 2, 4]);
    totalCents += quantity * product.priceCents;
    return {
      order_id: orderId,
      line_no: index + 1,
      tenant_id: shop.tenant,
      product_id: product.id,
      quantity,
      unit_price: printCents(product.priceCents),
    };
  });
  return { lines, totalCents };
}

/** Prints an amount in cents as a decimal number, without the rounding of a division. */
export function printCents(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}

/** Prints a time with random microseconds. */
function printTime(ms: number, random: Random): string {
  const micros = String(random.integer(0, 999_999)).padStart(6, "0");
  return `${new Date(ms).toISOString().slice(0, 19)}.${micros}Z`;
}

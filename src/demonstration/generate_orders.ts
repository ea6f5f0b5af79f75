import { printCents, printTime } from "./print.ts";
import type { Random } from "./random.ts";
import type { Product, Row } from "./row.ts";
import type { Shop } from "./shops.ts";

const HOUR_MS = 3_600_000;
const FIRST_ORDER_MS = Date.UTC(2026, 0, 2, 8);
const LAST_ORDER_MS = Date.UTC(2026, 3, 30, 18);

const NOTES = [
  "Please ring twice",
  "Leave at the reception",
  "Gift, no invoice in the parcel",
  "Deliver after 5 pm",
  "Second delivery attempt",
];

/** Generates the orders of a shop and their lines, oldest first. */
export function generateOrders(
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

const CARRIERS = ["Northline", "Parcelbird", "City courier"];

/** Chooses a status that fits the age of an order: what is old is done with. */
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

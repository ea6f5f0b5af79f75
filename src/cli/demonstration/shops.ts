/** A tenant of the demonstration: what it sells, and how many rows it has. */
export interface Shop {
  /** Value of `tenant_id`. */
  readonly tenant: string;
  readonly name: string;
  /** First key of its rows; shops have no keys in common. */
  readonly firstId: number;
  readonly seed: number;
  readonly customers: number;
  readonly orders: number;
  /** Variants of each article, with their price in percent. */
  readonly variants: readonly (readonly [name: string, percent: number])[];
  readonly articles: readonly Article[];
}

/** An article that exists in each variant. */
export interface Article {
  readonly name: string;
  readonly category: string;
  /** Price in euro at 100 percent. */
  readonly price: number;
  readonly weightGrams: number;
}

const OUTDOOR: readonly Article[] = [
  ...list("Tents", ["Tent 2P", 189, 2400], ["Tent 4P", 289, 4100], ["Tarp", 59, 700]),
  ...list("Sleeping", ["Sleeping bag", 119, 1300], ["Sleeping mat", 64, 600], ["Pillow", 19, 120]),
  ...list("Packs", ["Daypack 20 l", 69, 800], ["Backpack 45 l", 139, 1500], ["Dry bag", 17, 90]),
  ...list("Cooking", ["Gas stove", 45, 180], ["Pot set", 39, 520], ["Mug", 9, 110]),
  ...list("Cooking", ["Cutlery set", 12, 60], ["Water filter", 34, 150], ["Bottle 1 l", 16, 190]),
  ...list("Light", ["Head torch", 29, 90], ["Lantern", 35, 260]),
  ...list("Clothing", ["Rain jacket", 129, 420], ["Fleece", 79, 380], ["Wool hat", 24, 60]),
  ...list("Clothing", ["Gaiters", 32, 210], ["Gloves", 27, 80]),
  ...list("Walking", ["Trekking poles", 74, 480], ["Compass", 22, 50], ["First aid kit", 28, 310]),
  ...list("Walking", ["Map case", 14, 70], ["Rope 30 m", 66, 1900]),
];

const KITCHEN: readonly Article[] = [
  ...list("Knives", ["Chef's knife", 79, 220], ["Bread knife", 49, 190], ["Paring knife", 19, 70]),
  ...list("Pans", ["Frying pan 24 cm", 45, 1300], ["Frying pan 28 cm", 55, 1600]),
  ...list("Pans", ["Saucepan", 39, 1100], ["Stockpot", 69, 2600], ["Wok", 52, 1700]),
  ...list("Baking", ["Cake tin", 18, 500], ["Loaf tin", 15, 450], ["Rolling pin", 17, 600]),
  ...list("Baking", ["Mixing bowl", 21, 650], ["Kitchen scales", 34, 700], ["Whisk", 9, 120]),
  ...list("Coffee", ["Coffee grinder", 89, 1200], ["French press", 32, 800], ["Kettle", 49, 1000]),
  ...list("Table", ["Dinner plate", 12, 620], ["Soup bowl", 10, 430], ["Wine glass", 8, 140]),
  ...list("Table", ["Carafe", 24, 700], ["Napkins", 14, 200]),
  ...list("Storage", ["Storage jar", 11, 520], ["Spice rack", 29, 900], ["Bread bin", 38, 1800]),
];

/** The two tenants of the demonstration. */
export const SHOPS: readonly Shop[] = [
  {
    tenant: "acme",
    name: "Acme Outdoor",
    firstId: 1,
    seed: 20260101,
    customers: 240,
    orders: 1500,
    variants: [["Trail", 100], ["Ridge", 125], ["Summit", 160]],
    articles: OUTDOOR,
  },
  {
    tenant: "globex",
    name: "Globex Kitchen",
    firstId: 100001,
    seed: 20260102,
    customers: 160,
    orders: 1000,
    variants: [["Basic", 100], ["Classic", 130], ["Maison", 180]],
    articles: KITCHEN,
  },
];

function list(category: string, ...articles: [string, number, number][]): Article[] {
  return articles.map(([name, price, weightGrams]) => ({ name, category, price, weightGrams }));
}

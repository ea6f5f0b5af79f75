/** A country of the shared table `countries`, with some of its cities. */
export interface Country {
  readonly code: string;
  readonly name: string;
  readonly currency: string;
  readonly cities: readonly string[];
}

/** The rows of `countries`; customers live in these cities. */
export const COUNTRIES: readonly Country[] = [
  { code: "AT", name: "Austria", currency: "EUR", cities: ["Graz", "Linz", "Vienna"] },
  { code: "BE", name: "Belgium", currency: "EUR", cities: ["Antwerp", "Ghent", "Liège"] },
  { code: "CH", name: "Switzerland", currency: "CHF", cities: ["Basel", "Bern", "Zürich"] },
  {
    code: "DE",
    name: "Germany",
    currency: "EUR",
    cities: ["Bremen", "Freiburg", "Köln", "Leipzig", "München"],
  },
  { code: "DK", name: "Denmark", currency: "DKK", cities: ["Aarhus", "Odense"] },
  { code: "ES", name: "Spain", currency: "EUR", cities: ["Bilbao", "Málaga", "Valencia"] },
  { code: "FI", name: "Finland", currency: "EUR", cities: ["Tampere", "Turku"] },
  { code: "FR", name: "France", currency: "EUR", cities: ["Lyon", "Nantes", "Rennes"] },
  { code: "GB", name: "United Kingdom", currency: "GBP", cities: ["Bristol", "Leeds", "Norwich"] },
  { code: "IE", name: "Ireland", currency: "EUR", cities: ["Cork", "Galway"] },
  { code: "IT", name: "Italy", currency: "EUR", cities: ["Bologna", "Torino", "Verona"] },
  { code: "NL", name: "Netherlands", currency: "EUR", cities: ["Delft", "Groningen", "Utrecht"] },
  { code: "NO", name: "Norway", currency: "NOK", cities: ["Bergen", "Trondheim"] },
  { code: "PL", name: "Poland", currency: "PLN", cities: ["Gdańsk", "Kraków", "Wrocław"] },
  { code: "PT", name: "Portugal", currency: "EUR", cities: ["Braga", "Porto"] },
  { code: "SE", name: "Sweden", currency: "SEK", cities: ["Göteborg", "Malmö", "Uppsala"] },
];

/** Given names; combined with a family name at random, they mean no real person. */
export const GIVEN_NAMES: readonly string[] = (
  "Ada Aino Alba Anton Astrid Bram Carla Chiara Daan Elif Emil Enzo Fiona Freya Greta Hanna " +
  "Hugo Ida Ines Isak Jana Jonas Kaja Lars Lena Luca Maja Marek Marta Milan Nadia Nils Nora " +
  "Oskar Paula Pia Rafael Rosa Sanne Silas Sofia Tilda Tomas Vera Viktor Wanda Yara Zoe"
).split(" ");

/** Family names. */
export const FAMILY_NAMES: readonly string[] = (
  "Aalto Baker Bauer Berg Bianchi Costa Dahl Dubois Fischer Garcia Hansen Horvat Ivanov Jansen " +
  "Keller Kowalski Laurent Lindqvist Lopez Marino Meyer Moreau Murphy Nielsen Novak Okafor " +
  "Olsen Peeters Pereira Rossi Santos Schmid Silva Sørensen Teixeira Vermeer Virtanen Walsh " +
  "Weber Wright Zieliński Öztürk"
).split(" ");

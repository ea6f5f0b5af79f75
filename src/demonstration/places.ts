/** A country of the shared look-up table, with some of its towns. */
export interface Country {
  readonly code: string;
  readonly name: string;
  readonly currency: string;
  readonly cities: readonly string[];
}

/** The rows of `countries`; customers live in their towns. */
export const COUNTRIES: readonly Country[] = [
  country("AT", "Austria", "EUR", "Graz", "Linz", "Vienna"),
  country("BE", "Belgium", "EUR", "Antwerp", "Ghent", "Liège"),
  country("CH", "Switzerland", "CHF", "Basel", "Bern", "Zürich"),
  country("DE", "Germany", "EUR", "Bremen", "Freiburg", "Köln", "Leipzig", "München"),
  country("DK", "Denmark", "DKK", "Aarhus", "Odense"),
  country("ES", "Spain", "EUR", "Bilbao", "Málaga", "Valencia"),
  country("FI", "Finland", "EUR", "Tampere", "Turku"),
  country("FR", "France", "EUR", "Lyon", "Nantes", "Rennes"),
  country("GB", "United Kingdom", "GBP", "Bristol", "Leeds", "Norwich"),
  country("IE", "Ireland", "EUR", "Cork", "Galway"),
  country("IT", "Italy", "EUR", "Bologna", "Torino", "Verona"),
  country("NL", "Netherlands", "EUR", "Delft", "Groningen", "Utrecht"),
  country("NO", "Norway", "NOK", "Bergen", "Trondheim"),
  country("PL", "Poland", "PLN", "Gdańsk", "Kraków", "Wrocław"),
  country("PT", "Portugal", "EUR", "Braga", "Porto"),
  country("SE", "Sweden", "SEK", "Göteborg", "Malmö", "Uppsala"),
];

/** Given names; put together with a family name at random they mean nobody. */
export const GIVEN_NAMES: readonly string[] = (
  "Ada Aino Alba Anton Astrid Bram Carla Chiara Daan Elif Emil Enzo Fiona Freya Greta Hanna " +
  "Hugo Ida Ines Isak Jana Jonas Kaja Lars Lena Luca Maja Marek Marta Milan Nadia Nils Nora " +
  "Oskar Paula Pia Rafael Rosa Sanne Silas Sofia Tilda Tomas Vera Viktor Wanda Yara Zoe"
).split(" ");

/** Family names, from all over. */
export const FAMILY_NAMES: readonly string[] = (
  "Aalto Baker Bauer Berg Bianchi Costa Dahl Dubois Fischer Garcia Hansen Horvat Ivanov Jansen " +
  "Keller Kowalski Laurent Lindqvist Lopez Marino Meyer Moreau Murphy Nielsen Novak Okafor " +
  "Olsen Peeters Pereira Rossi Santos Schmid Silva Sørensen Teixeira Vermeer Virtanen Walsh " +
  "Weber Wright Zieliński Öztürk"
).split(" ");

function country(code: string, name: string, currency: string, ...cities: string[]): Country {
  return { code, name, currency, cities };
}

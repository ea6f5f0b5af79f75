import type { Column } from "../catalogue/catalogue.ts";
import type { OrderKey } from "./total_order.ts";

/** A value of a row in one key of the order, as text of Postgres; null is NULL. */
export interface Place extends OrderKey {
  readonly value: string | null;
}

/** The same with a value. */
export interface FilledPlace extends OrderKey {
  readonly value: string;
}

/**
 * A part of the rows behind a row: those that are the same in the first keys of the order, and behind it
 * in the next one. `row` compares the rest of the order at once, which an index finds in one scan.
 */
export interface Zone {
  readonly same: readonly Place[];
  readonly behind:
    | { readonly kind: "row"; readonly places: readonly FilledPlace[] }
    | { readonly kind: "null" | "not null"; readonly column: Column };
}

/**
 * Divides the rows behind a row into zones, the nearest first: in the order, each zone is wholly before
 * the next. Empty where the row can only be the last. NULL is above every value, as Postgres sorts it:
 * last ascending, first descending.
 * @see docs/decisions/0053-page-tokens.md
 */
export function planZones(order: readonly OrderKey[], values: readonly (string | null)[]): Zone[] {
  const places = order.map((key, at): Place => ({ ...key, value: values[at] ?? null }));
  const zones: Zone[] = [];
  const start = findRowStart(places);
  for (let at = start; at >= 0; at--) {
    const place = places[at]!;
    const same = places.slice(0, at);
    const rest = at === start ? places.slice(at) : [place];
    if (isFilled(place)) {
      zones.push({ same, behind: { kind: "row", places: rest.filter(isFilled) } });
      if (!place.descending && mayBeNull(place.column)) {
        zones.push({ same, behind: { kind: "null", column: place.column } });
      }
    } else if (place.descending) {
      zones.push({ same, behind: { kind: "not null", column: place.column } });
    }
  }
  return zones;
}

/**
 * The first key from which the rest of the order can be compared as one row: all in one direction, none
 * NULL. Descending, NULL comes before every value, and a comparison with it is not true either.
 */
function findRowStart(places: readonly Place[]): number {
  let start = places.length - 1;
  while (start > 0) {
    const [before, first] = [places[start - 1]!, places[start]!];
    if (before.descending !== first.descending || !isFilled(before) || !isFilled(first)) break;
    if (!first.descending && mayBeNull(first.column)) break;
    start--;
  }
  return start;
}

function isFilled(place: Place): place is FilledPlace {
  return place.value !== null;
}

/** A domain that is NOT NULL can be NULL in a row nevertheless. */
function mayBeNull({ nullable, type, baseType }: Column): boolean {
  return nullable || type !== baseType;
}

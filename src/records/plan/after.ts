import type { Column } from "../../catalogue/catalogue.ts";
import type { OrderKey } from "./total_order.ts";

/** The value of a row in one sort key, as text; null is NULL. */
export interface Place extends OrderKey {
  readonly value: string | null;
}

/** The same, without NULL. */
export interface FilledPlace extends OrderKey {
  readonly value: string;
}

/**
 * A part of the rows that follow a given row: those that are equal to it in the first sort keys, and
 * follow it in the next one. `row` compares all remaining keys as one row value, which an index finds
 * in one scan.
 */
export interface Zone {
  readonly same: readonly Place[];
  readonly behind:
    | { readonly kind: "row"; readonly places: readonly FilledPlace[] }
    | { readonly kind: "null" | "not null"; readonly column: Column };
}

/**
 * Divides the rows that follow a row into zones, in order: all rows of a zone come before those of
 * the next. Empty if no row can follow. NULL is above every value, as Postgres sorts it: last
 * ascending, first descending.
 * @see docs/decisions/0018-pages.md
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
 * Returns the first sort key from which all remaining ones can be compared as one row value: all in
 * one direction, none NULL. A descending key that may be NULL cannot be: NULL comes first, but no
 * comparison finds it.
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

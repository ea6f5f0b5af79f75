import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { openExportPlaces } from "../../../src/records/export_places.ts";

describe("openExportPlaces", () => {
  it("admits as many as there are places, of one tenant or of several [EX18]", () => {
    const counts: number[] = [];
    const places = openExportPlaces({ max: 2, changed: (running) => counts.push(running) });
    const leave = places.enter("a");
    places.enter("a");
    const error = assertThrows(() => places.enter("a"), ApiError);
    assertEquals([error.status, error.headers["Retry-After"]], [503, "5"]);
    leave();
    leave();
    places.enter("b");
    assertThrows(() => places.enter("b"), ApiError);
    assertEquals(counts, [1, 2, 1, 2]);
  });

  it("keeps the next place for a tenant that was rejected and has fewer exports [EX19] [XA12]", () => {
    const places = openExportPlaces({ max: 2, changed: () => {} });
    const leave = [places.enter("flood"), places.enter("flood")];
    assertThrows(() => places.enter("flood"), ApiError);
    assertThrows(() => places.enter("other"), ApiError);
    leave[0]!();
    for (let attempt = 0; attempt < 10; attempt++) {
      assertThrows(() => places.enter("flood"), ApiError);
    }
    places.enter("other");
    leave[1]!();
    places.enter("flood");
  });

  it("lets tenants with as many exports take turns, in the order of their rejection [EX19]", () => {
    const places = openExportPlaces({ max: 1, changed: () => {} });
    let leave = places.enter("a");
    for (const tenant of ["c", "b"]) assertThrows(() => places.enter(tenant), ApiError);
    leave();
    for (const tenant of ["b", "d", "a"]) assertThrows(() => places.enter(tenant), ApiError);
    leave = places.enter("c");
    leave();
    assertThrows(() => places.enter("c"), ApiError);
    places.enter("b")();
  });

  it("forgets a tenant that does not come back in time [EX19]", () => {
    let nowMs = 0;
    const places = openExportPlaces({ max: 1, changed: () => {}, now: () => nowMs });
    const leave = places.enter("a");
    assertThrows(() => places.enter("gone"), ApiError);
    leave();
    nowMs = 10_000;
    assertThrows(() => places.enter("a"), ApiError);
    nowMs = 10_001;
    places.enter("a");
  });

  it("keeps a tenant that is alone from nothing [EX18]", () => {
    const places = openExportPlaces({ max: 2, changed: () => {} });
    const leave = [places.enter("a"), places.enter("a")];
    for (let attempt = 0; attempt < 3; attempt++) {
      assertThrows(() => places.enter("a"), ApiError);
    }
    leave[0]!();
    places.enter("a");
  });

  it("gives one tenant no more places than it may have, whether or not others are free [EX24]", () => {
    const places = openExportPlaces({ max: 3, maxOfTenant: 2, changed: () => {} });
    const leave = [places.enter("a"), places.enter("a")];
    const error = assertThrows(() => places.enter("a"), ApiError);
    assertEquals([error.status, error.headers["Retry-After"]], [503, "5"]);
    places.enter("b")();
    leave[0]!();
    places.enter("a");
  });
});

import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { limitInFlight, type Place } from "../../../src/http/in_flight.ts";

describe("limitInFlight", () => {
  it("rejects the tenant that floods, not the one that comes after [RE10] [R19]", () => {
    const inFlight = limitInFlight(10, () => {});
    const claim = (tenant: string) => {
      const place = inFlight.enter();
      place.claim(tenant);
      return place;
    };
    const flood = Array.from({ length: 10 }, () => claim("flood"));
    // A rejected request has its place until it has its response.
    let rejected: Place | undefined;
    const error = assertThrows(() => {
      rejected = inFlight.enter();
      rejected.claim("flood");
    }, ApiError);
    assertEquals([error.status, error.headers["Retry-After"]], [503, "1"]);
    rejected?.leave();

    const others = Array.from({ length: 5 }, () => claim("other"));
    const sixth = inFlight.enter();
    assertThrows(() => sixth.claim("other"), ApiError);
    sixth.leave();
    claim("third").leave();

    for (const place of [...flood, ...others]) place.leave();
    for (let requests = 0; requests < 10; requests++) claim("flood");
  });

  it("admits at most twice as many, and counts a request once that is claimed again [RE10]", () => {
    const inFlight = limitInFlight(10, () => {});
    let served = 0;
    for (let tenant = 0; tenant < 100; tenant++) {
      for (let request = 0; request < 10; request++) {
        const place = inFlight.enter();
        try {
          place.claim(String(tenant));
          served++;
        } catch {
          place.leave();
        }
      }
    }
    assertEquals(served, 20);
  });

  it("reports how many there are at each arrival and departure [H15]", () => {
    const observed: number[] = [];
    const inFlight = limitInFlight(10, (requests) => observed.push(requests));
    const first = inFlight.enter();
    const second = inFlight.enter();
    first.claim("a");
    first.leave();
    second.leave();
    assertEquals(observed, [1, 2, 1, 0]);
  });

  it("is busy with requests of known tenants that do not only wait [EX25]", () => {
    const inFlight = limitInFlight(10, () => {});
    const seen: unknown[] = [];
    const see = () => seen.push([inFlight.isBusy(), inFlight.begun()]);
    const place = inFlight.enter();
    see();
    place.claim("a");
    see();
    place.rest();
    see();
    place.claim("a");
    see();
    place.leave();
    see();
    assertEquals(seen, [[false, 0], [true, 1], [false, 1], [true, 2], [false, 2]]);
  });
});

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { parseJson } from "../../../src/basics/json/parse_json.ts";
import { parseUpdateRequest, type UpdateBody } from "../../../src/request/update_request.ts";

function parse(body: unknown): UpdateBody {
  const { value, issues } = parseJson(typeof body === "string" ? body : JSON.stringify(body));
  return parseUpdateRequest(value, issues);
}

function reject(body: unknown): string {
  const error = assertThrows(() => parse(body), ApiError) as ApiError;
  assertEquals([error.status, error.matched], [400, undefined]);
  return error.message;
}

const FILTERS = { id: 1 };
const FIELDS = { name: "x" };

describe("parseUpdateRequest", () => {
  it("gives entries in document order", () => {
    const request = parse({ filters: { b: null, a: "x" }, fields: { j: { k: [1] }, n: null } });
    assertEquals(request.filters, [["b", null], ["a", "x"]]);
    assertEquals(JSON.stringify(request.fields), '[["j",{"k":[1]}],["n",null]]');
    assertEquals(JSON.stringify(request.document.fields), '{"j":{"k":[1]},"n":null}');
  });

  it("drops no name, neither __proto__ nor constructor [J1]", () => {
    const text = '{"__proto__":1,"constructor":2,"prototype":3}';
    const request = parse(`{"filters":${text},"fields":${text}}`);
    assertEquals(request.filters.map(([name]) => name), ["__proto__", "constructor", "prototype"]);
    assertEquals(request.fields.map(([, value]) => value), [1, 2, 3]);
  });

  for (const member of ["filters", "fields"] as const) {
    const other = member === "filters" ? { fields: FIELDS } : { filters: FILTERS };

    it(`says that ${member} is required when it is missing [E26] [U17]`, () => {
      const message = reject(other);
      assertStringIncludes(message, `${member}: ${member} is required`);
      assertEquals(message.includes("; "), false);
    });

    for (const value of [{}, null, [], ["a"], "a", 1]) {
      it(`rejects ${member}: ${JSON.stringify(value)} [IN16]`, () => {
        const message = reject({ ...other, [member]: value });
        assertEquals(message.startsWith(`${member}: `), true, message);
        assertStringIncludes(message, "expected an object with at least one entry");
      });
    }

    it(`rejects a name that does not match the pattern in ${member} [E28]`, () => {
      const message = reject({ ...other, [member]: { "na me": 1 } });
      assertStringIncludes(message, `${member}["na me"]: "na me" is not a valid name`);
    });
  }

  it("reports both members when both are missing [E7]", () => {
    const message = reject({});
    assertStringIncludes(message, "filters is required");
    assertStringIncludes(message, "fields is required");
  });

  it("rejects other keys, suggests the nearest, and reports what is missing [U16]", () => {
    const message = reject({ filter: FILTERS, fields: FIELDS });
    assertStringIncludes(message, 'filter: "filter" is not a known key, did you mean "filters"');
    assertStringIncludes(message, "filters is required");
    assertStringIncludes(reject({ filters: FILTERS, fields: FIELDS, where: 1 }), "where: ");
  });

  for (const value of [{ gt: 1 }, { $ne: null }, [1], []]) {
    it(`rejects the filter value ${JSON.stringify(value)} [US9]`, () => {
      assertEquals(
        reject({ filters: { status: value }, fields: FIELDS }),
        `filters.status: ${JSON.stringify(value)} is not a scalar, ` +
          "expected a string, number, boolean or null",
      );
    });
  }

  it("rejects a number that a double does not hold, inside a field as well [V9]", () => {
    assertStringIncludes(
      reject('{"filters":{"id":9007199254740993},"fields":{"j":{"x":[1e400]}}}'),
      "filters.id: 9007199254740993 cannot be held exactly by a JSON number, send it as a string; " +
        "fields.j.x[0]: 1e400 cannot",
    );
  });
});

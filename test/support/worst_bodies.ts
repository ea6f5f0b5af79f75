/** A body made to cost the service more than its size says. */
export interface WorstBody {
  readonly name: string;
  readonly operation: "query" | "update";
  /** Returns the body, at most so many bytes long. */
  readonly make: (bytes: number) => string;
}

/** What a body may have at most, unless the operator says otherwise. */
export const BODY_BYTES = 1_048_576;
const GROUP_START = '{"filters":{"and":[';
const GROUP_END = "]}}";

/** Every kind of body that was found to be expensive, and those that were feared to be. */
export const WORST_BODIES: readonly WorstBody[] = [
  json("empty objects", "{},"),
  json("empty lists", "[],"),
  json("objects of one key", '{"a":1},'),
  json("lists of one number", "[1],"),
  json("numbers of one digit", "1,"),
  json("numbers with exponents", "1e5,"),
  json("numbers with fractions", "0.5,"),
  json("numbers of 16 digits", "1234567890.123456,"),
  json("numbers of tiny exponents", "1e-7,"),
  json("negative zeros", "-0,"),
  json("words", "null,"),
  json("strings of one letter", '"a",'),
  json("strings of one escape", '"\\n",'),
  json("empty strings", '"",'),
  json("pairs of surrogates", '"\\ud83d\\ude00",'),
  json("lists 60 deep", "[".repeat(60) + "]".repeat(60) + ","),
  json("objects 60 deep", '{"":'.repeat(60) + "1" + "}".repeat(60) + ","),
  json("halves of surrogates", '"\\ud83d",'),
  json("numbers that no double holds", "9007199254740993,"),
  json("white space", "1,        \n"),
  {
    name: "keys of one object",
    operation: "update",
    make: (bytes) => `{"filters":{"a":1},"fields":{"j":{${list(bytes - 60, (n) => `"k${n}":1`)}}}}`,
  },
  {
    name: "numeric keys of one object",
    operation: "update",
    make: (bytes) =>
      `{"filters":{"a":1},"fields":{"j":{${list(bytes - 60, (n) => `"${n * 7919}":1`)}}}}`,
  },
  {
    name: "a key twice, at the end",
    operation: "update",
    make: (bytes) =>
      `{"filters":{"a":1},"fields":{"j":{${list(bytes - 60, (n) => `"k${n}":1`)},"k1":1}}}`,
  },
  whole("a string of escapes", '{"filters":{"a":1},"fields":{"t":"', "\\n", '"}}'),
  whole("a string of unicode escapes", '{"filters":{"a":1},"fields":{"t":"', "\\u00e9", '"}}'),
  whole("a string of letters", '{"filters":{"a":1},"fields":{"t":"', "x", '"}}'),
  whole("a string of emoji", '{"filters":{"a":1},"fields":{"t":"', "\u{1F680}", '"}}'),
  whole("a string of U+0000", '{"filters":{"a":1},"fields":{"t":"', "\\u0000", '"}}'),
  whole("a number of digits", '{"filters":{"a":1},"fields":{"n":', "7", "}}"),
  whole("a number of zeros", '{"filters":{"a":1},"fields":{"n":0.', "0", "1}}"),
  whole("digits in a string", '{"filters":{"a":1},"fields":{"n":"', "7", '"}}'),
  whole("digits and a letter", '{"filters":{"a":1},"fields":{"n":"', "7", 'x"}}'),
  whole("spaces before a digit", '{"filters":{"a":1},"fields":{"n":"', " ", '7"}}'),
  whole("a long pattern", '{"filters":{"and":[{"field":"t","op":"like","value":"', "%_", '"}]}}'),
  whole("backslashes", '{"filters":{"and":[{"field":"t","op":"like","value":"', "\\\\", '"}]}}'),
  whole("a long name", '{"select":["', "a", '"]}'),
  whole("a long operator", '{"filters":{"and":[{"field":"a","op":"', "e", '","value":1}]}}'),
  whole("a long key", '{"', "f", '":1}'),
  whole("nothing but space", "", " ", ""),
  whole("nothing but lines", "", "\n", "x"),
  whole("open lists", "", "[", ""),
  whole("open objects", "", '{"a":', ""),
  {
    name: "unknown keys at the top",
    operation: "query",
    make: (bytes) => `{${list(bytes - 10, (n) => `"perpage${n}":1`)}}`,
  },
  {
    name: "unknown fields",
    operation: "update",
    make: (bytes) => `{"filters":{"a":1},"fields":{${list(bytes - 50, (n) => `"k${n}":1`)}}}`,
  },
  {
    name: "invalid fields",
    operation: "update",
    make: (bytes) => `{"filters":{"a":1},"fields":{${list(bytes - 50, (n) => `"k-${n}":1`)}}}`,
  },
  {
    name: "unknown filters",
    operation: "update",
    make: (bytes) => `{"fields":{"a":1},"filters":{${list(bytes - 50, (n) => `"k${n}":1`)}}}`,
  },
  elements("a list for a column of lists", "1,"),
  elements("strings for a column of lists", '"\\"",'),
  elements("empty strings for a column of lists", '"",'),
  whole("empty groups", GROUP_START, '{"and":[]},', '{"or":[]}' + GROUP_END),
  whole("groups in groups", GROUP_START, '{"or":[{"and":[]},{"or":[]}]},', '{"or":[]}' + GROUP_END),
  whole("conditions", GROUP_START, '{"field":"a","op":"is_null"},', "{}" + GROUP_END),
  whole("empty conditions", GROUP_START, "{},", "{}" + GROUP_END),
  whole("items that are none", GROUP_START, "1,", "1" + GROUP_END),
  whole("branches of or", '{"filters":{"or":[', '{"or":[{"field":"a","op":"eq"}]},', "1]}}"),
  whole("values of in", '{"filters":{"and":[{"field":"a","op":"in","value":[', "1,", "1]}]}}"),
  whole("objects in in", '{"filters":{"and":[{"field":"a","op":"in","value":[', "{},", "1]}]}}"),
  whole("lists in eq", '{"filters":{"and":[{"field":"a","op":"eq","value":[', "[],", "1]}]}}"),
  {
    name: "keys of a condition",
    operation: "query",
    make: (bytes) => `${GROUP_START}{"op":"eq",${list(bytes - 60, (n) => `"k${n}":1`)}}]}}`,
  },
  {
    name: "keys of a group",
    operation: "query",
    make: (bytes) => `${GROUP_START}{"and":[],${list(bytes - 60, (n) => `"k${n}":1`)}}]}}`,
  },
  {
    name: "50 lists of 200 long texts",
    operation: "query",
    make: (bytes) => {
      const value = JSON.stringify(
        'é\\"'.repeat(1000).slice(0, Math.floor(bytes / 10_000 / 2) - 8),
      );
      const values = Array(200).fill(value).join(",");
      const condition = `{"field":"t","op":"in","value":[${values}]}`;
      return `${GROUP_START}${Array(50).fill(condition).join(",")}${GROUP_END}`;
    },
  },
  {
    name: "50 lists of 200 misfits",
    operation: "query",
    make: () => {
      const condition = `{"field":"n","op":"in","value":[${Array(200).fill('"x"').join(",")}]}`;
      return `${GROUP_START}${Array(50).fill(condition).join(",")}${GROUP_END}`;
    },
  },
  whole("names in select", '{"select":[', '"a",', '"a"]}'),
  whole("unknown names in select", '{"select":[', '"aa",', '"a"]}'),
  whole("no names in select", '{"select":[', "1,", '"a"]}'),
  whole("sort items", '{"sort":[', '{"field":"a"},', '{"field":"a"}]}'),
  whole("empty sort items", '{"sort":[', "{},", '{"field":"a"}]}'),
];

/** One value of a field that takes any JSON. */
function json(name: string, item: string): WorstBody {
  return whole(name, '{"filters":{"a":1},"fields":{"j":[', item, "1]}}");
}

function elements(name: string, item: string): WorstBody {
  return whole(name, '{"filters":{"a":1},"fields":{"l":[', item, item.slice(0, -1) + "]}}");
}

/** The item as often as it fits, between the two ends. */
function whole(name: string, start: string, item: string, end: string): WorstBody {
  const size = new TextEncoder().encode(item).length;
  const operation = start.includes('"fields"') ? "update" : "query";
  const make = (bytes: number) =>
    start + item.repeat(Math.max(1, Math.floor((bytes - start.length - end.length) / size))) + end;
  return { name, operation, make };
}

/** Different items, as many as fit. */
function list(bytes: number, print: (number: number) => string): string {
  const items: string[] = [];
  for (let size = 0, number = 0;; number++) {
    const item = print(number);
    size += item.length + 1;
    if (size > bytes) return items.join(",");
    items.push(item);
  }
}

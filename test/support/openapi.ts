import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describeService } from "../../src/describe/interface/openapi/document.ts";
import type { Holder } from "../../src/describe/interface/openapi/holder.ts";
import { printUrlPath } from "../../src/describe/interface/openapi/describe_paths.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";

/** One exchange with the service, as the document must describe it. */
export interface Exchanged {
  readonly method: string;
  readonly path: string;
  /** The parsed body of the request; undefined where it is none or no JSON. */
  readonly sent: unknown;
  readonly status: number;
  readonly answered: unknown;
}

/** Says what in an exchange the document does not allow; undefined when nothing. */
export type CheckExchange = (exchanged: Exchanged) => string | undefined;

/** Statuses of every operation, which the document need not list for each. */
const UNSAID = new Set([304, 405]);

/** Turns the document, that of all clients or of a token's holder, into a check of exchanges. */
export function openDocument(holder?: Holder): CheckExchange {
  // The linter checks that the schemas are valid: here every test file would pay for it.
  const lax = { strict: false, validateSchema: false, validateFormats: false };
  const ajv = new Ajv2020({ ...lax, allowUnionTypes: true });
  ajv.addSchema(describeService(holder), "doc");
  const validators = new Map<string, ValidateFunction>();
  const get = (name: string) => {
    const found = validators.get(name) ?? ajv.compile({ $ref: `doc#/components/schemas/${name}` });
    validators.set(name, found);
    return found;
  };

  return function check({ method, path, sent, status, answered }) {
    const operation = OPERATIONS.find((each) =>
      each.method === method && match(printUrlPath(each.path), path) !== undefined
    );
    if (operation === undefined || UNSAID.has(status)) return undefined;
    const table = match(printUrlPath(operation.path), path)!;
    const of = holder?.tables.some(({ name }) => name === table) ? `${table}.` : "";
    if (status !== (operation.status ?? 200) && status !== operation.otherStatus) {
      if (!operation.errors.some((each) => each === status)) return `${status} is not documented`;
      return report(get("Error"), answered, "the error");
    }
    if (of !== "" && operation.response === "Page") {
      for (const record of (answered as { records: unknown[] }).records) {
        const found = report(get(`${of}Record`), record, "the record");
        if (found !== undefined) return found;
      }
    } else {
      const wrong = report(get(operation.response), answered, "the response");
      if (wrong !== undefined) return wrong;
    }
    // A record that was refused by itself may have been wrong.
    const isRefused = (answered as { failed?: number }).failed !== undefined;
    if (operation.body === undefined || isRefused) return undefined;
    return sent === undefined
      ? undefined
      : report(get(`${of}${operation.body}`), sent, "the request");
  };
}

function report(validate: ValidateFunction, value: unknown, what: string): string | undefined {
  if (validate(value)) return undefined;
  return `${what} ${JSON.stringify(value)?.slice(0, 300)}: ${
    JSON.stringify(validate.errors?.slice(0, 3))
  }`;
}

/** Returns the table in a path, "" where the path has none; undefined when it is another path. */
function match(template: string, path: string): string | undefined {
  const [before, after] = template.split(/\{(?:table|id)\}/);
  const plain = path.split("?")[0]!.replace(/\/$/, "");
  if (after === undefined) return plain === before ? "" : undefined;
  if (!plain.startsWith(before!) || !plain.endsWith(after)) return undefined;
  return plain.slice(before!.length, plain.length - after.length);
}

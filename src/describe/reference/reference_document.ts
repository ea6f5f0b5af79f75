import type { ServiceRequest } from "./described.ts";

/** The parts of an OpenAPI document that the reference shows. */
export interface ReferenceDocument {
  readonly title: string;
  readonly description: string;
  /** In the order of the document's tags: each table of a token, or `Records` without one. */
  readonly sections: readonly ReferenceSection[];
  /** Every error of any operation, by status. */
  readonly errors: readonly ReferenceError[];
}

/** The operations with one tag. */
export interface ReferenceSection {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ReferenceOperation[];
}

/** An operation with the examples that the document has of it. */
export interface ReferenceOperation {
  /** `queryRecords`, also where the document says `queryRecords_orders`. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly path: string;
  /** The request without a body where the document has no example of it. */
  readonly request: ServiceRequest;
  /** The status of success. */
  readonly status: number;
  /** Undefined where the document has no example. */
  readonly response: unknown;
  readonly parameters: readonly { readonly name: string; readonly description: string }[];
  readonly errors: readonly ReferenceError[];
}

/** An error status, what it means, and messages that were really sent with it. */
export interface ReferenceError {
  readonly status: number;
  readonly description: string;
  readonly examples: readonly { readonly summary: string; readonly message: string }[];
}

/** An object of the document. */
type Node = { readonly [key: string]: unknown };

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Reads an OpenAPI document; what is missing in it is left empty. */
export function readReference(document: unknown): ReferenceDocument {
  const info = get(document, "info");
  const operations = Object.entries(get(document, "paths")).flatMap(([path, methods]) =>
    Object.entries(methods as Node).filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => {
        const tags = (operation as Node).tags as readonly string[] | undefined;
        return { tag: tags?.[0], ...readOperation(document, { path, method, operation }) };
      })
  );
  const tags = (document as Node).tags as readonly Node[] | undefined ?? [];
  const errors = new Map(
    operations.flatMap((operation) => operation.errors.map((error) => [error.status, error])),
  );
  return {
    title: String(info.title ?? ""),
    description: String(info.description ?? ""),
    sections: tags.map(({ name, description }) => ({
      name: String(name),
      description: String(description ?? ""),
      operations: operations.filter(({ tag }) => tag === name),
    })),
    errors: [...errors.values()].sort((one, other) => one.status - other.status),
  };
}

function readOperation(
  document: unknown,
  { path, method, operation }: {
    readonly path: string;
    readonly method: string;
    readonly operation: unknown;
  },
): ReferenceOperation {
  const parameters = ((operation as Node).parameters as readonly Node[] | undefined ?? [])
    .map((parameter) => readReferred(document, parameter));
  const example = parameters.find((parameter) => parameter.in === "path")?.example;
  const body = get(operation, "requestBody", "content", "application/json").example;
  const responses = get(operation, "responses");
  const success = Object.keys(responses).find(isSuccess) ?? "200";
  return {
    id: String((operation as Node).operationId).split("_")[0]!,
    summary: String((operation as Node).summary ?? ""),
    description: String((operation as Node).description ?? ""),
    path,
    request: {
      method: method.toUpperCase() as ServiceRequest["method"],
      path: path.slice(1).replace(/\{\w+\}/, String(example)),
      ...(body !== undefined && { body }),
    },
    status: Number(success),
    response: get(responses, success, "content", "application/json").example,
    parameters: parameters.map(({ name, description }) => ({
      name: String(name),
      description: String(description ?? ""),
    })),
    errors: Object.entries(responses).filter(([status]) => !isSuccess(status))
      .map(([status, response]) => readError(document, { status, response })),
  };
}

function isSuccess(status: string): boolean {
  return status.startsWith("2");
}

function readError(
  document: unknown,
  { status, response }: { readonly status: string; readonly response: unknown },
): ReferenceError {
  const found = readReferred(document, response as Node);
  const examples = Object.values(get(found, "content", "application/json", "examples"));
  return {
    // A document of many tables has one response for all statuses from 400, and one for those from 500.
    status: Number(status.replace("XX", "00")),
    description: String(found.description ?? ""),
    examples: (examples as readonly Node[]).map(({ summary, value }) => ({
      summary: String(summary),
      message: String((value as Node).error),
    })),
  };
}

/** Returns what a part of the document refers to; a part that does not refer as it is. */
function readReferred(document: unknown, part: Node): Node {
  return typeof part.$ref === "string" ? get(document, ...part.$ref.split("/").slice(1)) : part;
}

/** Follows keys into a value; an empty object where the way ends. */
function get(value: unknown, ...keys: readonly string[]): Node {
  let found = value;
  for (const key of keys) found = (found as Node | undefined)?.[key];
  return (found ?? {}) as Node;
}

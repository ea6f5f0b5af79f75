import { MAX_TOOL_RESULT_BYTES } from "../../basics/errors/limits.ts";
import type { JsonSchema } from "../schemas/json_schema.ts";

/** The arguments of a tool, each as the client wrote it. */
export interface Arguments {
  readonly names: readonly string[];
  readonly get: (name: string) => unknown;
  /** Prints an argument with all digits of its numbers. */
  readonly print: (name: string) => string;
}

/** Arguments by name. */
export type Properties = Readonly<Record<string, JsonSchema>>;

/** The request that the call of a tool stands for. */
export interface ToolRequest {
  /** Empty: the operation is about no table. */
  readonly table: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly prefer?: string;
  readonly idempotencyKey?: string;
  /** The text of its body; undefined: it has none. */
  readonly body?: string;
}

/**
 * What becomes of a response that is longer than a result of a tool may be: entries of a list are
 * left out (`tables`, `fields`), a page or a list of changes is asked for again with fewer entries, or
 * the values that were sent are left out (`written`); a single record that is longer is an error.
 */
export type ToolResultKind =
  | "tables"
  | "fields"
  | "page"
  | "changes"
  | "preview"
  | "written"
  | "record";

/** A tool, as an operation defines it. */
export interface ToolDefinition {
  readonly title: string;
  readonly description: string;
  readonly writes: boolean;
  /** True if it only adds records: it destroys none, and does more when it is called again. */
  readonly adds?: true;
  /** The arguments besides the table. */
  readonly properties: Properties;
  /** The names of those that can be left out. */
  readonly optional: readonly string[];
  /**
   * Makes the request of a call. It checks what the request does not have; everything else is checked
   * by the operation.
   * @throws {ApiError} 400 at the argument
   * @see MC8, MC10, MC11
   */
  readonly makeRequest: (given: Arguments) => ToolRequest;
  readonly result: ToolResultKind;
}

/** Says in a description that a result may be cut. */
export const CUT: string =
  `A result has at most ${MAX_TOOL_RESULT_BYTES} bytes; one that is cut says so in \`note\`.`;

import type { Table } from "../../catalogue/catalogue.ts";
import type { TokenScope } from "../../access/scopes.ts";
import type { DescribedOperation } from "../operation.ts";
import type { Arguments, ToolDefinition } from "./tool_definition.ts";

/** A tool that the service offers to agents. */
export interface Tool extends ToolDefinition {
  readonly name: string;
  /** The scopes that it needs; empty: any token may use it. */
  readonly scopes: readonly TokenScope[];
  /** The tables that it can be used on; undefined: it is about no table. */
  readonly isPossible: ((table: Table) => boolean) | undefined;
  /** Chooses the operation of a call. @throws {ApiError} 400 at the argument */
  readonly operationOf: (given: Arguments) => DescribedOperation;
}

import type { Table } from "../../../catalogue/catalogue.ts";
import type { Access } from "../../../access/tokens/token.ts";

/** The token that a document is made for. */
export interface Holder {
  readonly access: Access;
  /** The tables that the token gives access to. */
  readonly tables: readonly Table[];
}

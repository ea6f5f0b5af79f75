import type { Database } from "../../src/database/postgres/database.ts";
import { createToken, type TokenDraft } from "../../src/access/tokens/manage.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";
import { addSchema, openAsOwner } from "./add_schema.ts";
import type { TestDatabase } from "./database.ts";

/** Makes a token; what is left out is as `token create` has it, for tenant 1. */
export type IssueToken = (draft?: Partial<TokenDraft>) => Promise<string>;

/** Tokens that every test service has. */
export interface TestTokens {
  /** Tenant 1 of the fixture. */
  readonly a: string;
  /** Tenant 2 of the fixture. */
  readonly b: string;
  /** The first tenant of `documents`, whose tenant column is a uuid. */
  readonly uuid: string;
  /** Tenant 1, scope `query` alone. */
  readonly query: string;
  /** Tenant 1, scope `update` alone. */
  readonly update: string;
  /** Tenant 1, table `deals` alone. */
  readonly deals: string;
  readonly [name: string]: string;
}

const UUID_TENANT = "11111111-1111-4111-8111-111111111111";

const DRAFT: TokenDraft = {
  tenant: "1",
  name: null,
  scopes: ["query", "update"],
  tables: null,
  expiry: { kind: "never" },
};

/** Opens the database as its owner, to prepare what a service needs; the embedded one is `serving`. */
export function openOwner(test: TestDatabase, serving: Database): Database {
  return test.url === undefined ? serving : openAsOwner(test.url);
}

/** Makes the schema `rowgate` where the template has none, and tokens in it. */
export async function issueTokens(
  test: TestDatabase,
  { owner, issue }: { readonly owner: Database; readonly issue: IssueToken },
): Promise<TestTokens> {
  if (!test.served) await (test.url === undefined ? migrateSchema(owner) : addSchema(test.url));
  return {
    a: await issue({ name: "a" }),
    b: await issue({ name: "b", tenant: "2" }),
    uuid: await issue({ name: "uuid", tenant: UUID_TENANT }),
    query: await issue({ name: "query", scopes: ["query"] }),
    update: await issue({ name: "update", scopes: ["update"] }),
    deals: await issue({ name: "deals", tables: ["deals"] }),
  };
}

/** Returns a function that makes tokens in a database, and calls `issued` with each and its tenant. */
export function issueWith(
  owner: Database,
  issued: (token: string, tenant: string) => void = () => {},
): IssueToken {
  return async (draft) => {
    const made = { ...DRAFT, ...draft };
    const created = await createToken(owner, made);
    if (created === undefined) throw new Error("the token would have ended already");
    issued(created.token, made.tenant);
    return created.token;
  };
}

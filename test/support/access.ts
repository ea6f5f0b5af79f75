import process from "node:process";

/**
 * What the serving role may do: `rls`, with row level security forced on every table that has a tenant;
 * `least`, with rights on single columns only; `plain`, with the usual rights, to compare with.
 */
export type Access = "plain" | "rls" | "least";

/** All of them; first the one to compare with. */
export const ACCESSES: readonly Access[] = ["plain", "rls", "least"];

const named = process.env.ROWGATE_TEST_ACCESS;

/** That of this run; undefined in an ordinary one. */
export const ACCESS: Access | undefined = ACCESSES.find((access) => access === named);

/** What each access adds to the variables of a service. */
export const ACCESS_VARIABLES: Readonly<Record<Access, Readonly<Record<string, string>>>> = {
  plain: {},
  rls: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
  least: {},
};

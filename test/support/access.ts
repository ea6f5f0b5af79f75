import process from "node:process";

/**
 * What the serving role may do, and what else stands between it and the rows: `rls`, row level security
 * forced on every table with a tenant; `least`, rights on single columns alone. `plain` is as ever,
 * to compare with.
 */
export type Access = "plain" | "rls" | "least";

/** All of them; the one to compare with comes first. */
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

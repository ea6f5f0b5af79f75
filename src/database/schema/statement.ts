/** A statement without parameters, which can be run and printed. Its text is part of this program. */
export type Statement = TemplateStringsArray;

/**
 * The first statement of each transaction that defines something. What it names without a schema, such
 * as an operator in a CHECK, is then Postgres's own, whatever the path of role and database has.
 * @see TE25
 */
export const OWN_PATH: Statement = statement`set local search_path = pg_catalog, pg_temp`;

/** Prints statements as one transaction that an owner can run by hand. */
export function printTransaction(statements: readonly string[]): string {
  return `begin;\n${statements.map((text) => `${text};`).join("\n")}\ncommit;\n`;
}

/** Makes a statement; inserted parts are texts of this program as well. */
export function statement(texts: TemplateStringsArray, ...parts: readonly string[]): Statement {
  const text = String.raw({ raw: texts }, ...parts);
  return Object.assign([text], { raw: [text] });
}

/**
 * Grants rights, such as `select on rowgate.feeds`, to the roles that can read tokens, hence serve.
 * The texts contain no quotes.
 */
export function grantToServingRoles(...rights: readonly string[]): Statement {
  const grants = rights.map((right) =>
    `    execute pg_catalog.concat('grant ${right} to ', reader);`
  );
  return statement`do $rowgate$
declare
  reader text;
begin
  for reader in
    select distinct pg_catalog.quote_ident(r.rolname)
    from pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a, pg_catalog.pg_roles r
    where c.oid = 'rowgate.tokens'::pg_catalog.regclass and a.privilege_type = 'SELECT'
      and r.oid = a.grantee and r.oid <> c.relowner
  loop
${grants.join("\n")}
  end loop;
end $rowgate$`;
}

/** Revokes the functions from all roles, which may call new functions by default. */
export function revokeFromAll(functions: readonly string[]): Statement {
  return statement`revoke all on function ${functions.join(",\n  ")} from public`;
}

/** The right to call functions. */
export function executionOf(functions: readonly string[]): string {
  return `execute on function ${functions.join(",\n      ")}`;
}

/** Records that the schema has a version. */
export function noteVersion(version: number): Statement {
  return statement`insert into rowgate.migrations (version) values (${
    String(version)
  }) on conflict do nothing`;
}

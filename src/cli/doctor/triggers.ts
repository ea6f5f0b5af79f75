import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Setup,
} from "./diagnosis.ts";

/** A trigger on UPDATE of an exposed table. */
interface Trigger {
  readonly name: string;
  readonly table: string;
  /** Signature, quoted where necessary. */
  readonly function: string;
  /** The same with its schema, so that it is found whatever the search path is. */
  readonly identifier: string;
  /** The function runs with the rights of its owner. */
  readonly definer: boolean;
}

/**
 * A `security definer` function has the rights of its owner, and Rowgate cannot see which rows it
 * reads and writes.
 */
export const checkTriggers: Check = { name: "triggers", examine: examineTriggers };

async function examineTriggers(setup: Setup): Promise<Diagnosis> {
  const triggers = await readTriggers(setup);
  const findings = triggers.filter(({ definer }) => definer).map((trigger) => ({
    id: `trigger:${trigger.table}.${trigger.name}`,
    level: "warning" as const,
    what: `an update of ${trigger.table} runs ${trigger.function} with its owner's rights`,
    why:
      `the trigger ${trigger.name} can read and write rows of every tenant; check whether it does`,
    fix: `alter function ${trigger.identifier} security invoker;` +
      "    -- if the rights of the serving role suffice; otherwise review the function",
  }));
  return { seen: `${count(triggers.length, "trigger")} on updates`, findings };
}

function readTriggers({ database, catalogue }: Setup): Promise<readonly Trigger[]> {
  const writable = [...catalogue.tables.values()].filter((table) => table.writable);
  // The third and fifth bit of tgtype: UPDATE, and INSTEAD OF views.
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', t.tgname, 'table', wanted.name, 'definer', p.prosecdef,
        'function', t.tgfoid::pg_catalog.regprocedure::text,
        'identifier', pg_catalog.format('%I.%I()', s.nspname, p.proname)) order by wanted.name, t.tgname),
        '[]')::text as found
      from ${compileTables(sql, writable)}
      join pg_catalog.pg_trigger t on t.tgrelid = wanted.oid
      join pg_catalog.pg_proc p on p.oid = t.tgfoid
      join pg_catalog.pg_namespace s on s.oid = p.pronamespace
      where not t.tgisinternal and t.tgenabled <> 'D' and t.tgtype & 16 = 16
        and not (s.nspname = 'rowgate' and p.proname ~ '^changes_[0-9]+')`,
  );
}

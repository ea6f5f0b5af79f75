import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Setup,
} from "./diagnosis.ts";

/** A trigger of an exposed table. */
interface Trigger {
  readonly name: string;
  readonly table: string;
  /** Signature, quoted where necessary. */
  readonly function: string;
  /** The same with its schema, so that it is found whatever the search path is. */
  readonly identifier: string;
  /** The function runs with the rights of its owner. */
  readonly definer: boolean;
  /** Its bits of `tgtype`. */
  readonly events: number;
}

/** The bits of `tgtype` by what fires a trigger. */
const EVENTS = { create: 4, delete: 8, update: 16 };
type Event = keyof typeof EVENTS;

/**
 * A `security definer` function has the rights of its owner, and Rowgate cannot see which rows it
 * reads and writes.
 */
export const checkTriggers: Check = { name: "triggers", examine: examineTriggers };

async function examineTriggers(setup: Setup): Promise<Diagnosis> {
  const triggers = (await readTriggers(setup)).flatMap((trigger) => {
    const events = listEvents(trigger, setup);
    return events.length === 0 ? [] : [{ ...trigger, fired: events.join(" or ") }];
  });
  const findings = triggers.filter(({ definer }) => definer).map((trigger) => ({
    id: `trigger:${trigger.table}.${trigger.name}`,
    level: "warning" as const,
    what: `${trigger.fired.startsWith("update") ? "an" : "a"} ${trigger.fired} of ` +
      `${trigger.table} runs ${trigger.function} with its owner's rights`,
    why:
      `the trigger ${trigger.name} can read and write rows of every tenant; check whether it does`,
    fix: `alter function ${trigger.identifier} security invoker;` +
      "    -- if the rights of the serving role suffice; otherwise review the function",
  }));
  return { seen: `${count(triggers.length, "trigger")} on writes`, findings };
}

/** Lists what clients can do that fires a trigger. */
function listEvents({ table, events }: Trigger, { catalogue }: Setup): readonly Event[] {
  const { writable, creatable, deletable, softDelete } = catalogue.tables.get(table)!;
  const possible: Readonly<Record<Event, boolean>> = {
    update: writable || (deletable && softDelete !== undefined),
    create: creatable,
    delete: deletable && softDelete === undefined,
  };
  return (["update", "create", "delete"] as const)
    .filter((event) => possible[event] && (events & EVENTS[event]) !== 0);
}

function readTriggers({ database, catalogue }: Setup): Promise<readonly Trigger[]> {
  const exposed = [...catalogue.tables.values()];
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', t.tgname, 'table', wanted.name, 'definer', p.prosecdef,
        'events', t.tgtype & 28,
        'function', t.tgfoid::pg_catalog.regprocedure::text,
        'identifier', pg_catalog.format('%I.%I()', s.nspname, p.proname)) order by wanted.name, t.tgname),
        '[]')::text as found
      from ${compileTables(sql, exposed)}
      join pg_catalog.pg_trigger t on t.tgrelid = wanted.oid
      join pg_catalog.pg_proc p on p.oid = t.tgfoid
      join pg_catalog.pg_namespace s on s.oid = p.pronamespace
      where not t.tgisinternal and t.tgenabled <> 'D' and t.tgtype & 28 <> 0
        and not (s.nspname = 'rowgate' and p.proname ~ '^changes_[0-9]+')`,
  );
}

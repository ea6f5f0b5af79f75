import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { join, literal } from "../sql/fragment.ts";
import { askTruth } from "./ask.ts";
import {
  type Check,
  count,
  type Diagnosis,
  type Finding,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";
import { type Ends, mendForeignKey } from "./mend_foreign_key.ts";
import { type ForeignKey, readForeignKeys } from "./read_foreign_keys.ts";

/** A reference must stay with its tenant: by the key itself, or by what is in the rows. */
export const checkForeignKeys: Check = { name: "foreign keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const keys = await readForeignKeys(setup);
  const findings: Finding[] = [];
  for (const key of keys) {
    const [from, to] = [key.table, key.target].map((name) => setup.catalogue.tables.get(name)!);
    const ends = { from: from as TenantTable, to: to as TenantTable };
    if (
      key.columns.some((column, place) =>
        column === ends.from.tenant.name && key.targetColumns[place] === ends.to.tenant.name
      )
    ) continue;
    setup.progress(key.name);
    findings.push(judge(key, { ...ends, crossing: await crosses(setup, { key, ...ends }) }));
  }
  return { seen: count(keys.length, "foreign key"), findings };
}

function judge(key: ForeignKey, ends: Ends & { crossing: boolean }): Finding {
  const { name, table, columns, target } = key;
  const fix = mendForeignKey(key, ends);
  return ends.crossing
    ? {
      level: "error",
      what: `rows of ${table} refer to rows of ${target} that belong to another tenant (${name})`,
      why: "a join or a trigger that follows the reference leaves the tenant",
      fix: `${selectCrossing(key, ends)}    -- mend these rows first\n${fix}`,
    }
    : {
      level: "warning",
      what: `${table} may refer to any tenant's rows of ${target} (${name})`,
      why: `an update of ${columns.join(", ")} is accepted or refused by rows of other tenants, ` +
        "which tells that they exist",
      fix,
    };
}

function selectCrossing({ columns, targetColumns }: ForeignKey, { from, to }: Ends): string {
  const same = columns.map((column, place) =>
    `a.${quoteIdentifier(column)} = b.${quoteIdentifier(targetColumns[place]!)}`
  );
  return `select a.* from ${from.identifier} a join ${to.identifier} b on ${same.join(" and ")}` +
    ` where a.${from.tenant.identifier}::text <> b.${to.tenant.identifier}::text;`;
}

function crosses(
  { database }: Setup,
  { key, from, to }: Ends & { key: ForeignKey },
): Promise<boolean> {
  return askTruth(database, (sql) => {
    const name = (column: string) => literal(sql, quoteIdentifier(column));
    const same = key.columns.map((column, place) =>
      sql`"$a".${name(column)} = "$b".${name(key.targetColumns[place]!)}`
    );
    return sql`select exists (select from ${literal(sql, from.identifier)} "$a"
      join ${literal(sql, to.identifier)} "$b" on ${join(sql, "and", same)}
      where "$a".${name(from.tenant.name)}::text <> "$b".${
      name(to.tenant.name)
    }::text)::text as found`;
  });
}

import { resolveTable } from "../catalogue/resolve.ts";
import type { Table } from "../catalogue/catalogue.ts";
import type { Step } from "../postgres/database.ts";
import { takesOf } from "../plan/column.ts";
import { planUpdate, type UpdatePlan } from "../plan/update_plan.ts";
import { parseUpdateRequest, type UpdateRequest } from "../request/update_request.ts";
import { useOfUpdate } from "../request/body_parts.ts";
import { compileSetStep } from "../sql/settings.ts";
import { type Call, entrantOf, settingsOf, tryFresh } from "./call.ts";
import { explainFailure } from "./explain_failure.ts";

/** What both updates do before they differ: table, body, plan; then the given run. */
export async function prepareUpdate<T>(
  call: Call,
  run: (plan: UpdatePlan, request: UpdateRequest) => Promise<T>,
): Promise<T> {
  const { access, table: name, audited } = call;
  const resolve = { access, operation: "update" } as const;
  let table = await tryFresh(call, (seen) => resolveTable(seen, name, resolve));
  const { maxAffected, rollback } = call.readWishes();
  let request = await readRequest(call, table);
  return await tryFresh(call, async (seen) => {
    const fresh = resolveTable(seen, name, resolve);
    // What was not kept, because no column took it, may have one now.
    if (fresh !== table) request = await readRequest(call, fresh);
    table = fresh;
    const plan = planUpdate(request, { table, access, maxAffected, rollback, audited });
    try {
      return await run(plan, request);
    } catch (error) {
      throw await explainFailure(error, { call, plan, document: request.document });
    }
  });
}

async function readRequest(call: Call, table: Table): Promise<UpdateRequest> {
  const document = await call.readDocument(useOfUpdate((name) => takesOf(table, name)));
  return parseUpdateRequest(document.value, document.issues, document);
}

/** Gives the lane's first step, the settings of its statements; none where there are none. */
export function startLane(call: Call): Step[] {
  const settings = settingsOf(call);
  return settings.length === 0 ? [] : [(sql) => compileSetStep(sql, settings)];
}

/** Runs steps in the lane, and gives the one row of the last. */
export async function transact<R extends object>(
  call: Call,
  { steps, rollback }: { steps: readonly Step[]; rollback: boolean },
): Promise<R> {
  const options = { rollback, ...entrantOf(call) };
  const [row] = await call.database.transact([...startLane(call), ...steps], options);
  return row as unknown as R;
}

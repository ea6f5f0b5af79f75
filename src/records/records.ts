import { type ExportPlaces, openExportPlaces } from "./export_places.ts";
import type { ExportPlan } from "./plan/export_plan.ts";
import type { CreatePlan } from "./plan/create_plan.ts";
import type { UpsertPlan } from "./plan/upsert_plan.ts";
import type { QueryPlan } from "./plan/query_plan.ts";
import type { BatchPlan, UpdatePlan } from "./plan/update_plan.ts";
import type { Client, Database } from "../database/postgres/database.ts";
import type { Others } from "../database/postgres/pace.ts";
import { type Cursors, openCursors } from "../feeds/cursors/cursors.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import type { Setting } from "./sql/settings.ts";
import { batchLookUps } from "./batch_look_ups.ts";
import { type ExportedRows, exportRows } from "./export.ts";
import { createRows } from "./create_rows.ts";
import { explainError } from "./explain_error.ts";
import { pipelineStatements } from "./pipeline_statements.ts";
import { type Page, readPage } from "./read.ts";
import type { Batchers, Run } from "./run.ts";
import { runBatchUpdate } from "./update_batch.ts";
import type { BatchResult } from "./update_each.ts";
import { updateManyRows } from "./update_many.ts";
import { updateOneRow } from "./update_one.ts";
import { upsertRows } from "./upsert_rows.ts";
import type { RecordResult } from "./write_records.ts";
import { withVersionKey } from "./version_key.ts";
import type { WrittenOne } from "./written_one.ts";

/** The request that a plan was made from. */
export interface PlannedRequest {
  readonly client: Client;
  /** The parsed body, by which issues are ordered. */
  readonly document: unknown;
  /** Called if the response is made from the answer stored for the request's `Idempotency-Key`. */
  readonly replayed?: () => void;
}

/**
 * Runs plans. Only this module decides how: in one statement, in a batch with other requests, in a
 * transaction, or again because another request changed the row meanwhile.
 */
export interface Records {
  /** Reads one page and the total, unless the client does not want it. */
  readonly read: (plan: QueryPlan, request: PlannedRequest) => Promise<Page>;
  /** Begins to read all rows that match. */
  readonly export: (plan: ExportPlan, request: PlannedRequest) => Promise<ExportedRows>;
  /** Updates exactly one row, and gives how many were written: 0 when it held the values already. */
  readonly updateOne: (plan: UpdatePlan, request: PlannedRequest) => Promise<WrittenOne>;
  /** Updates every row that matches, and gives how many were written, as digits. */
  readonly updateMany: (plan: UpdatePlan, request: PlannedRequest) => Promise<string>;
  /** Runs several single updates, all or none, and gives how many rows each has written. */
  readonly updateBatch: (
    plan: BatchPlan,
    request: PlannedRequest,
  ) => Promise<readonly BatchResult[]>;
  /** Inserts records, all or none, and gives each in the order of the request. */
  readonly createRows: (
    plan: CreatePlan,
    request: PlannedRequest,
  ) => Promise<readonly RecordResult[]>;
  /** Creates records, or updates the rows that have their match values, and gives each in order. */
  readonly upsertRows: (
    plan: UpsertPlan,
    request: PlannedRequest,
  ) => Promise<readonly RecordResult[]>;
}

type AnyPlan = QueryPlan | ExportPlan | UpdatePlan | BatchPlan | CreatePlan;

/** How plans are run. */
export interface RecordsOptions {
  readonly observe: Observe;
  /** Name of the operator's setting for the tenant, if any. */
  readonly tenantSetting: string | undefined;
  /** Exports that may run at the same time. */
  readonly exports: number;
  /** Exports of one tenant that may run at the same time; left out: the same number. */
  readonly exportsPerTenant?: number | undefined;
  /** The cursors of another database, for a standby. */
  readonly cursors?: Cursors;
  /** Requests that an export gives way to; left out: none. */
  readonly others?: Others;
  /** Left out: exports of other databases are not counted. */
  readonly places?: ExportPlaces;
}

const NO_OTHERS: Others = { isBusy: () => false, begun: () => 0 };

/** Opens the places for exports, which all databases of a service share. */
export function openPlacesForExports(
  { exports, exportsPerTenant, observe }: Pick<
    RecordsOptions,
    "exports" | "exportsPerTenant" | "observe"
  >,
): ExportPlaces {
  return openExportPlaces({
    max: exports,
    maxOfTenant: exportsPerTenant,
    changed: (running) => observe({ kind: "exports", running }),
  });
}

/** Opens the records of a database, once for all requests. */
export function openRecords(
  database: Database,
  options: RecordsOptions,
): Records {
  const { observe, tenantSetting, cursors = openCursors(database), others = NO_OTHERS } = options;
  const places = options.places ?? openPlacesForExports(options);
  const batchers: Batchers = {
    lookUp: batchLookUps(database, observe),
    readByKey: pipelineStatements(database, observe, { operation: "query_records", write: false }),
    writeByKey: pipelineStatements(database, observe, { operation: "update_single", write: true }),
  };

  function startRun(plan: AnyPlan, { client, replayed = () => {} }: PlannedRequest): Run {
    const { scope: { tenant }, table: { timeZone } } = plan;
    const settings: Setting[] = [];
    // Reads are printed in UTC; updates run in the zone of the database, which triggers may use.
    if (timeZone !== undefined && "rollback" in plan) {
      settings.push({ name: "TimeZone", value: timeZone });
    }
    if (tenantSetting !== undefined) settings.push({ name: tenantSetting, value: tenant });
    // The spread comes last: before other members it makes a hidden class for each object on Node 20.
    return { database, cursors, settings, requester: { tenant, client }, replayed, ...batchers };
  }

  function withRun<Plan extends AnyPlan, Result>(
    perform: (run: Run, plan: Plan, document: unknown) => Promise<Result>,
  ): (plan: Plan, request: PlannedRequest) => Promise<Result> {
    return async (plan, request) => {
      const run = startRun(plan, request);
      const { document } = request;
      try {
        return await perform(run, await withVersionKey(plan, cursors), document);
      } catch (error) {
        throw await explainError(error, { run, plan, document });
      }
    };
  }

  return {
    read: withRun(readPage),
    export: withRun((run, plan, document) => exportRows(run, plan, { document, places, others })),
    updateOne: withRun(updateOneRow),
    updateMany: withRun(updateManyRows),
    updateBatch: withRun(runBatchUpdate),
    createRows: withRun(createRows),
    upsertRows: withRun(upsertRows),
  };
}

import { followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import { parsePolicy } from "../../../src/catalogue/policy.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { examine, type Examined } from "../../../src/cli/doctor/examine.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import type { TestDatabase } from "../../support/database.ts";
import { checkPrinted } from "./check_printed.ts";

/** The settings with which a database is examined. */
export interface ExamineOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly policy?: unknown;
  readonly workers?: number;
  /** Changes the catalogue that would be served. */
  readonly change?: (catalogue: Catalogue) => Catalogue;
  /** Changes what is read, such as the time. */
  readonly wrap?: (database: Database) => Database;
}

/** Runs all checks on a test database and returns their results by name. */
export async function examineDatabase(
  test: TestDatabase,
  options: ExamineOptions = {},
): Promise<ReadonlyMap<string, Examined>> {
  const { environment = {}, policy: text = {}, workers = 1 } = options;
  const { change = (catalogue) => catalogue, wrap = (database) => database } = options;
  const url = test.servingUrl === undefined ? {} : { DATABASE_URL: test.servingUrl };
  const { config, problems } = readConfig({ ...url, ROWGATE_POOL_SIZE: "2", ...environment });
  if (config === undefined) throw new Error(problems.join());
  const parsed = parsePolicy(JSON.stringify(text));
  if (!("policy" in parsed)) throw new Error(parsed.problems.join());
  const observe = () => {};
  const { embedded } = test;
  const database = wrap(openDatabase(config, observe, embedded && { embedded }));
  const { schemas, tenantColumn, timeZone } = config;
  const { policy } = parsed;
  const source = followDatabase(database, {
    tenantSetting: config.tenantSetting ?? null,
    ...{ schemas, tenantColumn, timeZone, policy, observe },
  });
  try {
    const catalogue = change(await source.current());
    const currentCatalogue = { ...source, current: () => Promise.resolve(catalogue) };
    const metrics = createMetrics();
    const progress = () => {};
    const setup = {
      config,
      database,
      observe,
      metrics,
      catalogue,
      currentCatalogue,
      workers,
      accepted: policy.acceptedFindings,
      progress,
    };
    const found = new Map<string, Examined>();
    for await (const examined of examine(setup)) {
      for (const { fix } of examined.findings) checkPrinted(fix);
      found.set(examined.name, examined);
    }
    return found;
  } finally {
    source.close();
    if (embedded === undefined) await database.close(1000);
  }
}

/** Returns the findings of a check: level and sentence. */
export function findingsOf(found: ReadonlyMap<string, Examined>, name: string): readonly string[] {
  return found.get(name)!.findings.map(({ level, what }) => `${level}: ${what}`);
}

/**
 * Runs the tests: starts one throw-away Postgres, makes the databases that every test file clones,
 * runs the files side by side, and stops it all. Paths and flags are passed on:
 * `deno task test test/unit --filter tenant`.
 */
import { join } from "node:path";
import process from "node:process";
import { startCluster } from "../test/support/cluster.ts";
import { makeEmbeddedTemplate, makeTemplates } from "../test/support/templates.ts";
import { runTests, type Tally } from "./run_tests.ts";

const parameters = process.argv.slice(2);
const cluster = await startCluster();
let tally: Tally = { passed: 0, failed: 0, ignored: 0 };
try {
  const embedded = join(cluster.folder, "fixture.tar");
  await Promise.all([makeTemplates(cluster.url), makeEmbeddedTemplate(embedded)]);
  const environment = { ROWGATE_TEST_CLUSTER: cluster.url, ROWGATE_TEST_EMBEDDED: embedded };
  tally = await runTests(parameters, environment);
} finally {
  await cluster.stop();
}
const ignored = tally.ignored === 0 ? "" : `, ${tally.ignored} skipped`;
console.log(`${tally.passed} passed, ${tally.failed} failed${ignored}`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

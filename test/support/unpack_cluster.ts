import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { embeddedTemplateFile } from "./shared_databases.ts";

/**
 * Puts an empty cluster into a data directory, as a first start leaves it that ended before it filled
 * it: to create the cluster is most of what a first start costs.
 */
export async function unpackCluster(dataDir: string): Promise<void> {
  const cluster = join(dataDir, "postgres");
  await mkdir(cluster, { recursive: true, mode: 0o700 });
  const file = await embeddedTemplateFile("empty");
  await promisify(execFile)("tar", ["--extract", `--file=${file}`, `--directory=${cluster}`]);
}

import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const SOURCE = fileURLToPath(new URL("../../connectors/n8n", import.meta.url));

/**
 * Makes and installs the package of the nodes as its README says, in a folder of its own and in that of
 * the user who runs n8n. Returns how many files the package has.
 * @throws {Error} if a command fails
 */
export async function buildNodes(
  { node, folder, userFolder }: {
    readonly node: string;
    readonly folder: string;
    readonly userFolder: string;
  },
): Promise<number> {
  await cp(SOURCE, folder, { recursive: true });
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const npm = async (...words: readonly string[]) => {
    const options = { cwd: folder, env: { ...process.env, PATH } };
    return (await promisify(execFile)("npm", words, options)).stdout;
  };
  await npm("install", "--ignore-scripts", "--no-audit");
  await npm("run", "lint");
  await npm("run", "build");
  const [packed] = JSON.parse(await npm("pack", "--json"));
  const nodes = join(userFolder, ".n8n/nodes");
  await mkdir(nodes, { recursive: true });
  await npm("install", "--prefix", nodes, "--legacy-peer-deps", join(folder, packed.filename));
  return packed.files.length;
}

import { spawn } from "node:child_process";
import { cp } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../connectors/n8n", import.meta.url));

/**
 * Installs, lints and builds the package of the nodes as its README says, in a folder of its own, and puts
 * the result where n8n has the community nodes that its users install.
 * @throws {Error} if a command fails
 */
export async function buildNodes(
  { node, folder, userFolder }: {
    readonly node: string;
    readonly folder: string;
    readonly userFolder: string;
  },
): Promise<void> {
  await cp(SOURCE, folder, { recursive: true });
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const steps = [["install", "--ignore-scripts", "--no-audit"], ["run", "lint"], ["run", "build"]];
  for (const words of steps) await run(["npm", ...words], { cwd: folder, PATH });
  const installed = join(userFolder, ".n8n/nodes/node_modules/n8n-nodes-rowgate");
  for (const part of ["package.json", "dist"]) {
    await cp(join(folder, part), join(installed, part), { recursive: true });
  }
}

async function run(
  [command, ...words]: readonly string[],
  { cwd, PATH }: { readonly cwd: string; readonly PATH: string },
): Promise<void> {
  const child = spawn(command!, words, {
    cwd,
    env: { ...process.env, PATH },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${code}`);
}

import { readdir } from "node:fs/promises";

/** Lists the files below folders of the repository with this ending, sorted, with `/` as separator. */
export async function listFiles(folders: readonly string[], ending: string): Promise<string[]> {
  const files: string[] = [];
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = `${entry.parentPath}/${entry.name}`.replaceAll("\\", "/");
      if (path.includes("/node_modules/") || !entry.isFile()) continue;
      if (path.endsWith(ending)) files.push(path);
    }
  }
  return files.sort();
}

// Generates clients from OpenAPI documents, each into a folder of its name below the folder that is given:
// schema.ts by openapi-typescript, and heyapi/ by @hey-api/openapi-ts. On standard input is an object that has
// the text of each document by its name.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

// By variables, so that checking the types of this repository does not need them.
const [TYPESCRIPT, HEY_API] = ["openapi-typescript", "@hey-api/openapi-ts"];
const { default: openapiTS, astToString } = await import(TYPESCRIPT);
const { createClient } = await import(HEY_API);

const [folder] = process.argv.slice(2);
let source = "";
for await (const chunk of process.stdin) source += chunk;
for (const [name, text] of Object.entries(JSON.parse(source))) {
  const own = join(folder, name);
  await mkdir(own);
  await writeFile(join(own, "schema.ts"), astToString(await openapiTS(text)));
  const input = join(own, "openapi.json");
  await writeFile(input, text);
  await createClient({
    input,
    output: join(own, "heyapi"),
    plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
    logs: { level: "warn" },
  });
}

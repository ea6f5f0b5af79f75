// Generates clients from the OpenAPI document on standard input, into the folder that is given: schema.ts by
// openapi-typescript, and heyapi/ by @hey-api/openapi-ts.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

// By variables, so that checking the types of this repository does not need them.
const [TYPESCRIPT, HEY_API] = ["openapi-typescript", "@hey-api/openapi-ts"];
const { default: openapiTS, astToString } = await import(TYPESCRIPT);
const { createClient } = await import(HEY_API);

const [folder] = process.argv.slice(2);
let source = "";
for await (const chunk of process.stdin) source += chunk;
await writeFile(join(folder, "schema.ts"), astToString(await openapiTS(source)));
const input = join(folder, "openapi.json");
await writeFile(input, source);
await createClient({
  input,
  output: join(folder, "heyapi"),
  plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
  logs: { level: "warn" },
});

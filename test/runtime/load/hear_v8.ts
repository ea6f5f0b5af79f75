import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createTestService, type TestService } from "../../support/service.ts";

/**
 * What V8 prints under the given flags, of a service on Deno under load; the work can ask for the
 * lines so far. What V8 says of its compilers goes to a file of its own: it writes its standard
 * output in blocks, so that a line of the service's log can cut one of V8's in two.
 */
export async function hearV8(
  flags: string,
  work: (service: TestService, heard: () => readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const printed: string[] = [];
  const folder = mkdtempSync(join(process.env.ROWGATE_TEST_FOLDER ?? tmpdir(), "rowgate-v8-"));
  const file = join(folder, "compiled.txt");
  writeFileSync(file, "");
  const heard = () => [...printed, ...readFileSync(file, "utf8").split("\n")];
  try {
    const service = await createTestService("real", {
      runtime: "deno",
      environment: {
        DENO_V8_FLAGS: `${flags},--redirect-code-traces,--redirect-code-traces-to=${file}`,
      },
      logged: (line) => printed.push(line),
    });
    try {
      await work(service, heard);
    } finally {
      await service.close();
    }
    return heard();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

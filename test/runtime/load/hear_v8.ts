import { createTestService, type TestService } from "../../support/service.ts";

/**
 * What V8 prints under the given flags, of a service on Deno under load. The work is given the lines
 * too, as they come.
 */
export async function hearV8(
  flags: string,
  work: (service: TestService, heard: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const service = await createTestService("real", {
    runtime: "deno",
    environment: { DENO_V8_FLAGS: flags },
    logged: (line) => lines.push(line),
  });
  try {
    await work(service, lines);
  } finally {
    await service.close();
  }
  return lines;
}

import { createTestService, type TestService } from "../../support/service.ts";

/** What V8 prints under the given flags, of a service on Deno under load. */
export async function hearV8(
  flags: string,
  work: (service: TestService) => Promise<void>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const service = await createTestService("real", {
    runtime: "deno",
    environment: { DENO_V8_FLAGS: flags },
    logged: (line) => lines.push(line),
  });
  try {
    await work(service);
  } finally {
    await service.close();
  }
  return lines;
}

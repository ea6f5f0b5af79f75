import { createTestService, type TestService } from "../../support/service.ts";

/** What V8 tells, under the flags that make it tell, of a service on Deno while it is put to work. */
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

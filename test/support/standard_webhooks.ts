import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** The class `Webhook` of the package, which receivers verify deliveries with. */
export type Verifier = new (secret: string) => {
  /** @throws when the signature is not right, or too old */
  readonly verify: (body: string, headers: Record<string, string>) => unknown;
};

const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));

/** Loads the package standardwebhooks; `scripts/make_programs.ts` says which tests have it installed. */
export function loadStandardWebhooks(): Verifier {
  return createRequire(PACKAGES)("standardwebhooks").Webhook;
}

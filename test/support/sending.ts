import { openByteBudget } from "../../src/http/byte_budget.ts";
import type { Sending } from "../../src/http/response_body.ts";

/** ByteBudget and time for what a test sends. */
export const SENDING: Sending = { unsent: openByteBudget(1e9), timeoutMs: 60_000, late() {} };

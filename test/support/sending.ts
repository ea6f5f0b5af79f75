import { openRoom } from "../../src/http/room.ts";
import type { Sending } from "../../src/http/stream_answer.ts";

/** Room and time for what a test sends. */
export const SENDING: Sending = { unsent: openRoom(1e9), timeoutMs: 60_000, late() {} };

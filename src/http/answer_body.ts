import { IS_BUN } from "../runtime/name.ts";

/** With any head these stay below the 16 kB that Bun collects before it writes. */
const STREAMED_CHARACTERS = 5000;

/** What Bun's streams take besides: a text, which it encodes as it writes it. */
interface DirectController {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/** UTF-8 takes so many for a UTF-16 unit at most. */
const MOST_BYTES = 3;

/**
 * Makes the body of an answer. Bun (1.4) writes a longer text behind a head in some thirty pieces, one
 * for each name, colon, value and line end, every one a packet that wakes the client; head and stream
 * it writes as one, with their `Content-Length`, when the stream is whole before it begins to write.
 * @see docs/decisions/0196-long-answers-on-bun.md
 */
export function makeBody(text: string): BodyInit {
  if (!IS_BUN || text.length < STREAMED_CHARACTERS) return text;
  const source = {
    type: "direct",
    pull(controller: DirectController) {
      controller.write(text);
      controller.close();
    },
  };
  return new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>, {
    highWaterMark: MOST_BYTES * text.length,
  });
}

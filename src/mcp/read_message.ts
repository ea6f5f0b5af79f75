import { ApiError } from "../basics/errors/api_error.ts";
import { pathOf } from "../basics/errors/issue.ts";
import { MAX_MESSAGE_CHARACTERS } from "../basics/errors/limits.ts";
import { isObject } from "../basics/json/json.ts";
import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import type { SourceText } from "../basics/json/source_text.ts";
import type { Arguments } from "../operations/tools/tool_definition.ts";

/** A message of the protocol. */
export interface Message {
  /** The message without the arguments of its tool. */
  readonly envelope: unknown;
  /** Empty if it has none. */
  readonly method: string;
  /** Undefined: it does not call a tool. */
  readonly tool: string | undefined;
  readonly arguments: Arguments;
}

/** Depth of the values in the arguments: below the message, `params` and `arguments`. */
const DEPTH_OF_ARGUMENTS = 3;

/**
 * Reads the text of a message by the rules for every body: a repeated key is rejected, and no number
 * is rounded. The protocol's library gets the message without the arguments, which go to the
 * operation exactly as they were written.
 * @throws {ApiError} 400 for text that is not JSON, several messages, or a message that is too long
 * without its arguments
 * @see MC13, MC14
 */
export async function readMessage(text: string): Promise<Message> {
  const { value, ...source } = await parseJsonInSlices(text, { valueDepth: DEPTH_OF_ARGUMENTS });
  if (!isObject(value)) {
    throw new ApiError(400, "body: it is not a message, expected one JSON object of JSON-RPC 2.0");
  }
  const { method, params } = value;
  const given = isObject(params) && isObject(params.arguments) ? params.arguments : undefined;
  const rest = given === undefined
    ? value
    : { ...value, params: { ...(params as object), arguments: {} } };
  const envelope = JSON.stringify(rest);
  if (envelope.length > MAX_MESSAGE_CHARACTERS) {
    const most = `expected at most ${MAX_MESSAGE_CHARACTERS} characters`;
    throw new ApiError(400, `body: it is too long without params.arguments, ${most}`);
  }
  return {
    // Objects of the strict parser have no prototype, which the library does not expect.
    envelope: JSON.parse(envelope),
    method: typeof method === "string" ? method : "",
    tool: isObject(params) && typeof params.name === "string" ? params.name : undefined,
    arguments: keepArguments(given ?? {}, source),
  };
}

function keepArguments(
  given: Readonly<Record<string, unknown>>,
  source: SourceText,
): Arguments {
  return {
    names: Object.keys(given),
    get: (name) => given[name],
    print(name) {
      const literals = source.literalsIn(pathOf("params", "arguments"));
      return literals?.[name] ?? source.print(given[name]);
    },
  };
}

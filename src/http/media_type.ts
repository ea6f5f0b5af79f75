import { ApiError } from "../errors/api_error.ts";
import { quote } from "../errors/issue.ts";
import { parseHeaderList } from "./header_list.ts";

/**
 * Refuses a body that is not said to be plain JSON in UTF-8. Compressed ones too: a small body may
 * unpack to any size.
 * @throws {ApiError} 415 naming the header
 * @see H2, H3
 */
export function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type !== "application/json") checkType(type);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    const wrong = `${quote(encoding)} is not supported`;
    throw new ApiError(415, `Content-Encoding: ${wrong}, expected the body uncompressed`);
  }
}

function checkType(type: string | null): void {
  const [item, ...others] = parseHeaderList(type);
  const charset = item?.parameters.get("charset")?.toLowerCase() ?? "utf-8";
  if (
    item?.name.toLowerCase() !== "application/json" || others.length > 0 || charset !== "utf-8"
  ) {
    const wrong = type === null ? "no media type" : `${quote(type)} is not supported`;
    throw new ApiError(415, `Content-Type: ${wrong}, expected application/json in UTF-8`);
  }
}

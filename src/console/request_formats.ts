export { printJson } from "../reference/print_literal.ts";
export { REQUEST_FORMATS } from "../reference/request_formats.ts";

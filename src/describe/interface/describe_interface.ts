import type { Operation } from "../../operations/operation.ts";
import { printOpenApi, printPublicOpenApi } from "./print_openapi.ts";

/**
 * The OpenAPI document: the generic one without a token, with one that of its tables. It is not in the
 * list of operations, because it describes that list.
 * @see docs/specification/service.md
 */
export const describeInterface: Operation = {
  name: "describe_interface",
  method: "GET",
  path: "/openapi.json",
  describe: ({ catalogue, access }) => printOpenApi(catalogue, access),
  describePublicly: printPublicOpenApi,
  cacheable: true,
};

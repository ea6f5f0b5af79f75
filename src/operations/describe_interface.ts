import { isOpenTo } from "../catalogue/resolve.ts";
import { describeService } from "../openapi/document.ts";
import type { Answer, Call } from "./call.ts";

/**
 * Gives the OpenAPI document of the very tables that the token opens, each typed.
 * @see docs/decisions/0190-openapi.md
 */
export async function describeInterface({ access, catalogue }: Call): Promise<Answer> {
  const { tables } = await catalogue.current();
  const open = [...tables.values()].filter((table) => isOpenTo(table, access))
    .sort((a, b) => a.name < b.name ? -1 : 1);
  return { json: JSON.stringify(describeService({ access, tables: open })), cacheable: true };
}

let forEverybody: string | undefined;

/** Gives the document for those without a token: the same for everybody, made once. */
export function describeInterfaceForAll(): Answer {
  forEverybody ??= JSON.stringify(describeService());
  return { json: forEverybody, cacheable: true };
}

import type { TenantColumn } from "./catalogue.ts";

const WHOLE_NUMBER = /^-?[0-9]{1,19}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BITS = { int2: 16, int4: 32, int8: 64 } as const;

/** Tells whether a tenant can stand in a tenant column of a kind at all, so that its cast can not fail. */
export function tenantFits(tenant: string, kind: TenantColumn["kind"]): boolean {
  if (kind === "text") return !tenant.includes("\0");
  if (kind === "uuid") return UUID.test(tenant);
  if (!WHOLE_NUMBER.test(tenant)) return false;
  const number = BigInt(tenant);
  return BigInt.asIntN(BITS[kind], number) === number;
}

/** Whether this is Deno, for code that makes up for its manners. */
export const IS_DENO = "Deno" in globalThis;
/** Whether this is Bun. */
export const IS_BUN = "Bun" in globalThis;

/** Tenants of the demonstration; the first start makes a token for each. */
export const DEMONSTRATION_TENANTS: readonly string[] = ["acme", "globex"];

/**
 * The policy file, as JSON, in force for the demonstration when the operator names none.
 * @see T12
 */
export const DEMONSTRATION_POLICY = { tables: { countries: { shared: true } } };

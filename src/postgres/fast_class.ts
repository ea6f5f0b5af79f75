/** What makes objects of one kind. */
export type Class = new () => object;

/**
 * Lets V8 optimise the making of a class's objects. A class with a static member of a computed name,
 * such as `static get [Symbol.species]` of the driver's queries and lists of rows, is a dictionary to
 * V8 (11 to 15), and code that makes one is compiled, thrown away and compiled again, for ever. One
 * look-up through an heir, of what nobody has, makes it what other classes are. Elsewhere it does
 * nothing.
 * @see docs/decisions/0195-classes-of-the-driver.md
 */
export function makeFast(base: Class): void {
  const Heir: { readonly nobodyHasThis?: unknown } & Class = class extends base {};
  void Heir.nobodyHasThis;
}

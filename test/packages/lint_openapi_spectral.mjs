// Lints OpenAPI documents with Spectral's recommended rules, and prints a line for each problem, with the name of its
// document. On standard input is an object that has the text of each document by its name.

// By variables, so that checking the types of this repository does not need them.
const [CORE, RULES, PARSERS] = ["core", "rulesets", "parsers"].map((name) =>
  `@stoplight/spectral-${name}`
);
const { default: { Spectral, Document } } = await import(CORE);
const { default: { oas } } = await import(RULES);
const parsers = (await import(PARSERS)).default;

let source = "";
for await (const chunk of process.stdin) source += chunk;
const spectral = new Spectral();
spectral.setRuleset({ extends: [[oas, "recommended"]] });
for (const [name, text] of Object.entries(JSON.parse(source))) {
  const problems = await spectral.run(new Document(text, parsers.Json, "openapi.json"));
  for (const { code, message, path } of problems) {
    console.log(`${name}: ${code}: ${message} (${path.join("/")})`);
  }
}

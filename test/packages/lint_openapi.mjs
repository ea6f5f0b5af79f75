// Lints OpenAPI documents with Redocly's recommended rules, and prints a line for each problem, with the name of its
// document. On standard input is an object that has each document by its name.

// By a variable, so that checking the types of this repository does not need it.
const REDOCLY = "@redocly/openapi-core";
const { createConfig, lintFromString } = await import(REDOCLY);

let source = "";
for await (const chunk of process.stdin) source += chunk;
const config = await createConfig({
  extends: ["recommended"],
  telemetry: "off",
});
for (const [name, document] of Object.entries(JSON.parse(source))) {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: "openapi.json",
    config,
  });
  for (const { severity, ruleId, message, location } of problems) {
    console.log(`${name}: ${severity} ${ruleId}: ${message} (${location[0]?.pointer})`);
  }
}

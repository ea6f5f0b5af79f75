// Lints the OpenAPI document on standard input with Redocly's recommended rules, and prints a line for each problem.

// By a variable, so that checking the types of this repository does not need it.
const REDOCLY = "@redocly/openapi-core";
const { createConfig, lintFromString } = await import(REDOCLY);

let source = "";
for await (const chunk of process.stdin) source += chunk;
const config = await createConfig({
  extends: ["recommended"],
  telemetry: "off",
});
const problems = await lintFromString({
  source,
  absoluteRef: "openapi.json",
  config,
});
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${severity} ${ruleId}: ${message} (${location[0]?.pointer})`);
}

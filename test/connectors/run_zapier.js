/**
 * Runs the Zapier app by Zapier's own test tool, one call for each line of standard input:
 * `node run_zapier.js FOLDER`, where FOLDER holds a copy of the app. Each call is answered by one line.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const require = createRequire(join(folder, "index.js"));
const zapier = require("zapier-platform-core");
const { validateAppDefinition } = require("zapier-platform-schema");
const { default: app } = await import(
  pathToFileURL(join(folder, "index.js")).href
);
const tester = zapier.createAppTester(app);

/** The app as its schema sees it: functions have no JSON. */
function describe() {
  const text = JSON.stringify(
    app,
    (_, value) => typeof value === "function" ? "$func$2$f$" : value,
  );
  return JSON.parse(text);
}

/** Finds what a path such as `creates.update_record.operation.perform` leads to. */
function find(path) {
  return path.split(".").reduce((value, key) => value[key], app);
}

async function run({ path, bundle }) {
  if (path === "validate") {
    return {
      result: validateAppDefinition(describe()).errors.map(({ stack }) => stack),
    };
  }
  return { result: await tester(find(path), bundle) };
}

// What the tool logs by itself would stand between the lines.
console.log = () => {};
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).catch((error) => {
    const { message } = error;
    try {
      return { error: JSON.parse(message).message, name: error.name };
    } catch {
      return { error: message, name: error.name };
    }
  });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

// Prints the YAML on standard input as JSON.

// By a variable, so that checking the types of this repository does not need it.
const YAML = "js-yaml";
const { load } = await import(YAML);

let source = "";
for await (const chunk of process.stdin) source += chunk;
console.log(JSON.stringify(load(source)));

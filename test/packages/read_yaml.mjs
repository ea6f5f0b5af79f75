// Prints the YAML on standard input as JSON.

// By a variable, so that nobody who checks the types of this repository has to install it.
const YAML = "js-yaml";
const { load } = await import(YAML);

let source = "";
for await (const chunk of process.stdin) source += chunk;
console.log(JSON.stringify(load(source)));

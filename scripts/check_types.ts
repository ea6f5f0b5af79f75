/** Checks the types of all code, the tests' with `@std` from where the test command has it. */
import { spawn } from "node:child_process";
import process from "node:process";
import { chooseStd } from "./choose_std.ts";

const { words } = await chooseStd(process.argv.slice(2));
const child = spawn(process.execPath, ["check", ...words, "src", "test", "scripts"], {
  stdio: "inherit",
});
child.once("close", (code) => process.exit(code ?? 1));

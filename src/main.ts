import { runCommand } from "./cli/command.ts";
import { openHost } from "./server/runtime/host.ts";

const host = openHost();
await host.exit(await runCommand(host));

import { runPrinted } from "../../support/run_printed.ts";
import { runCommand } from "../../../src/cli/command.ts";
import { readDocument, readTexts, splitCommands } from "../../docs/blocks.ts";
import type { TestService } from "../../support/service.ts";
import type { DescribedSchema } from "./described_schema.ts";

/** What a command wrote, and how it ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What the operators' page has an operator type, but for what serves and copies whole databases. */
const EXPECTED = [
  'rowgate setup --print | psql "$OWNER_URL"',
  "DATABASE_URL=postgres://rowgate_app:…@db/shop ROWGATE_POLICY=policy.json rowgate doctor",
  'DATABASE_URL="$OWNER_URL" rowgate token create --tenant acme --name ERP',
  'DATABASE_URL="$OWNER_URL" rowgate audit --tenant acme --table orders --since 24h',
  'DATABASE_URL="$OWNER_URL" rowgate setup',
  'DATABASE_URL="$OWNER_URL" rowgate changes enable orders',
  'DATABASE_URL="$OWNER_URL" rowgate changes status',
  "rowgate webhook list",
];
const LEFT_OUT = /rowgate serve|rowgate --version|^pg_|NEW_URL/;

/** Reads the commands of the operators' page in their order. */
export async function readPageCommands(): Promise<readonly string[]> {
  const page = readTexts(await readDocument("docs/operators.md"), "sh");
  const commands = page.flatMap(splitCommands).filter((text) => !LEFT_OUT.test(text));
  return [...new Set(commands)];
}

/** The commands that the test follows; if the page has others, they need a place in it. */
export function expectedCommands(): readonly string[] {
  return EXPECTED;
}

/** Runs a command of the page, with this schema's names in the place of the page's. */
export async function runPageCommand(
  command: string,
  { service, schema, policy }: {
    readonly service: TestService;
    readonly schema: DescribedSchema;
    readonly policy: object;
  },
): Promise<Ran> {
  const { url, servingUrl, admin } = service.database;
  const [tenant] = schema.tenants;
  const [, variables = "", line = ""] = /^(.*?)rowgate (.*?)(?: \| psql "\$OWNER_URL")?$/.exec(
    command,
  )!;
  const args = line.split(" ").map((word) =>
    word === "acme" ? tenant : word === "orders" ? schema.followed : word
  );
  const DATABASE_URL = variables.includes("rowgate_app") ? servingUrl! : url!;
  const ran = await run(args, { environment: { ...schema.environment, DATABASE_URL }, policy });
  if (command.endsWith('| psql "$OWNER_URL"')) await runPrinted(admin, ran.out);
  return ran;
}

/** Runs `rowgate` in this process: a process for each command would cost more than all the laws. */
export async function run(
  args: readonly string[],
  { environment, policy }: {
    readonly environment: Readonly<Record<string, string>>;
    readonly policy: object;
  },
): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await runCommand({
    environment: { ...environment, ROWGATE_POLICY: "policy.json", ROWGATE_POOL_SIZE: "2" },
    args,
    stdout: { isTerminal: false, write: (text) => void (out += text), writeLine() {} },
    stderr: { isTerminal: false, write: (text) => void (err += text), writeLine() {} },
    readFile: () => Promise.resolve(JSON.stringify(policy)),
    onSignal: () => {},
    onStrayError: () => {},
    exit: () => Promise.reject(new Error("exit")),
  });
  return { code, out, err };
}

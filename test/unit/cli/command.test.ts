import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { runCommand } from "../../../src/cli/command.ts";
import { VERSION } from "../../../src/server/config/config.ts";

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command with a process that is not there. */
async function run(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await runCommand({
    environment,
    args,
    stdout: { isTerminal: false, write: (text) => void (out += text), writeLine() {} },
    stderr: { isTerminal: false, write: (text) => void (err += text), writeLine() {} },
    readFile: (path) => readFile(path, "utf8"),
    onSignal: () => {},
    onStrayError: () => {},
    exit: () => Promise.reject(new Error("exit")),
  });
  return { code, out, err };
}

const COMMANDS = [
  ["serve"],
  ["health"],
  ["token"],
  ["token", "create"],
  ["token", "list"],
  ["token", "revoke"],
  ["token", "rotate"],
  ["tables"],
  ["audit"],
  ["setup"],
  ["handout"],
];

describe("rowgate --help", () => {
  for (const command of [[], ...COMMANDS]) {
    it(`shows an example of "${["rowgate", ...command].join(" ")}" [R30]`, async () => {
      const { code, out, err } = await run([...command, "--help"]);
      assertEquals([code, err], [0, ""]);
      assert(/Examples?:\n/.test(out), out);
      const shown = ["rowgate", ...command].join(" ");
      assertStringIncludes(out.slice(out.indexOf("Example")), shown);
    });
  }

  it("prints the version of the package [H16]", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    assertEquals(VERSION, version);
    assertEquals(await run(["--version"]), { code: 0, out: `${version}\n`, err: "" });
  });
});

describe("rowgate", () => {
  const wrong = [
    [],
    ["sevre"],
    ["serve", "now"],
    ["serve", "--port", "80"],
    ["token"],
    ["token", "create"],
    ["token", "create", "--tenant", ""],
    ["token", "create", "--tenant", "a", "--scope", "admin"],
    ["token", "create", "--tenant", "a", "--expires", "soon"],
    ["token", "create", "--tenant", "a", "--tables", "a,b c"],
    ["token", "revoke"],
    ["token", "revoke", "' or 1=1"],
    ["token", "rotate", "aaaaaaaaaaa", "--overlap", "long"],
    ["setup", "--prnt"],
  ];
  for (const args of wrong) {
    it(`exits with 2 on ${JSON.stringify(args)} and prints no result [R30]`, async () => {
      const { code, out, err } = await run(args);
      assertEquals([code, out], [2, ""]);
      assert(err !== "");
    });
  }

  it("reports all problems of the configuration, policy included [R7] [R11] [T10]", async () => {
    const { code, out, err } = await run(["serve"], {
      PORT: "-1",
      DATABASE_URL: "postgres://app:hunter2@db/shop?sslmode=maybe",
      ROWGATE_POLICY: "/nowhere/policy.json",
    });
    assertEquals([code, out], [2, ""]);
    for (const part of ["3 problems", "PORT: ", "sslmode must be", "/nowhere/policy.json"]) {
      assertStringIncludes(err, part);
    }
    assert(!err.includes("hunter2"));
  });

  it("shows no password in what it prints without a database [CF2]", async () => {
    const environment = { DATABASE_URL: "postgres://app:hunter2@127.0.0.1:1/shop" };
    for (const args of [["--help"], ["serve", "--help"], ["setup", "--print"]]) {
      const { code, out, err } = await run(args, environment);
      assertEquals([code, err], [0, ""]);
      assert(out.length > 1000 && !out.includes("hunter2"), out);
    }
  });

  it("does not start several workers on the embedded Postgres [R42]", async () => {
    const { code, out, err } = await run(["serve"], { PORT: "0", ROWGATE_WORKERS: "2" });
    assertEquals([code, out], [2, ""]);
    assertMatch(err, /^.*a problem:\n +ROWGATE_WORKERS: .*embedded.*\n$/);
  });

  it("does not start with standbys of which a primary is asked [M27]", async () => {
    const { code, err } = await run(["serve"], {
      DATABASE_URL: "postgres://u@127.0.0.1:1/x",
      DATABASE_READ_URL: "postgres://u@127.0.0.1:1/x?target_session_attrs=read-write",
    });
    assertEquals(code, 2);
    assertStringIncludes(err, "DATABASE_READ_URL: target_session_attrs=read-write asks for a prim");
  });

  it("prints schema, role and rights for psql without a database [R34]", async () => {
    const environment = { DATABASE_URL: "postgres://u@127.0.0.1:1/x", ROWGATE_SCHEMA: 'a"b' };
    const { code, out } = await run(["setup", "--print"], environment);
    assertEquals(code, 0);
    for (
      const part of [
        "create table if not exists rowgate.tokens",
        "create role rowgate_app",
        "grant select on rowgate.tokens",
        'on all tables in schema "a""b" to rowgate_app;',
      ]
    ) assertStringIncludes(out, part);
  });
});

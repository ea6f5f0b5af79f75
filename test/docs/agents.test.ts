// What docs/recipes.md tells agents works: the address and the header of the command and of the configuration, and
// the tools that it names.
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { TOOLS } from "../../src/operations/tools/tools.ts";
import { printAgent } from "../../src/cli/demonstration/example.ts";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";

const TOOL_NAMES = TOOLS.map(({ name }) => name);
const page = await readDocument("docs/recipes.md");
const [command = ""] = readTexts(page, "sh");
const [configuration = ""] = readTexts(page, "json");

describe("the recipe for agents", () => {
  let service: DocumentedService;
  before(async () => {
    service = await startDemonstration();
  });
  after(() => service.close());

  it("has the command that the start prints [MC20]", () => {
    assertEquals(command, printAgent({ address: "http://127.0.0.1:8080", token: "rg_…" }));
  });

  it("has a configuration whose address and header work", async () => {
    const { type, url, headers } = JSON.parse(configuration).mcpServers.rowgate;
    assertEquals(type, "http");
    assertMatch(command, new RegExp(` rowgate ${url} `));
    const response = await service.app(
      new Request(url, {
        method: "POST",
        headers: {
          "authorization": headers.Authorization.replace("rg_…", "DELETE_TOKEN"),
          "content-type": "application/json",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      }),
    );
    const { result: { tools } } = await response.json();
    assertEquals(tools.map(({ name }: { name: string }) => name), TOOL_NAMES);
    const section = page.slice(page.indexOf("The tools are"));
    const [sentence = ""] = section.split(";", 1);
    const named = [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    assertEquals(named, TOOL_NAMES);
  });
});

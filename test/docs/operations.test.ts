// The operators' page, the dashboard and the alert rules name existing metrics, and the page and the dashboard name all.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { readConfig } from "../../src/server/config/config.ts";
import { createMetrics } from "../../src/server/telemetry/metrics.ts";
import { readMetrics } from "../support/read_metrics.ts";
import { readDocument, readTexts } from "./blocks.ts";

const { names } = readMetrics(await createMetrics().print());

function read(path: string): Promise<string> {
  return readFile(new URL(`../../docs/${path}`, import.meta.url), "utf8");
}

function listNamed(text: string): string[] {
  return [...text.matchAll(/\browgate_(?!app\b|catalogue\b(?!_))[a-z_]+/g)].map(([name]) => name);
}

/** A histogram has three metrics. */
function exists(name: string): boolean {
  return names.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ""));
}

describe("docs/operations", () => {
  for (const file of ["dashboard.json", "alerts.yaml"]) {
    it(`${file} names existing metrics [H15]`, async () => {
      const named = listNamed(await read(`operations/${file}`));
      assert(named.length >= 8);
      assertEquals(named.filter((name) => !exists(name)), []);
    });
  }

  it("dashboard.json shows every metric, and no panel has the id of another [H15]", async () => {
    const text = await read("operations/dashboard.json");
    const { panels } = JSON.parse(text) as { panels: { id: number }[] };
    assertEquals(new Set(panels.map(({ id }) => id)).size, panels.length);
    assertEquals([...names].filter((name) => !text.includes(name)), []);
  });

  it("alerts.yaml gives each alert a name of its own and an expression [H15]", async () => {
    const text = await read("operations/alerts.yaml");
    const alerts = [...text.matchAll(/- alert: (\w+)\n\s+expr: /g)].map(([, name]) => name);
    assertEquals(alerts.length, text.split("- alert:").length - 1);
    assertEquals(new Set(alerts).size, alerts.length);
  });

  it("operators.md points Prometheus to the address and path of the metrics", async () => {
    const [block = "", ...others] = readTexts(await readDocument("docs/operators.md"), "yaml");
    assertEquals(others, []);
    // Without a metrics_path, Prometheus requests /metrics.
    assertEquals(block.includes("metrics_path"), false);
    const [, address] = /targets: \["([^"]+)"\]/.exec(block) ?? [];
    const { config } = readConfig({});
    assertEquals(address, `${config!.host}:${config!.port}`);
  });

  it("operators.md lists each metric once and no others [H15]", async () => {
    const page = await read("operators.md");
    const rows = [...page.matchAll(/^- `(rowgate_\w+)`/gm)].map(([, name]) => name!);
    assertEquals(rows.sort(), [...names].sort());
  });
});

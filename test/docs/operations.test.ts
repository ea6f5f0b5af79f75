// The page, the dashboard and the alert rules name metrics that are there, and the page names all.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { readConfig } from "../../src/config/config.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { readMetrics } from "../support/read_metrics.ts";
import { readDocument, readTexts } from "./blocks.ts";

const { names } = readMetrics(await createMetrics({ version: "0" }).print());

function read(path: string): Promise<string> {
  return readFile(new URL(`../../docs/${path}`, import.meta.url), "utf8");
}

function listNamed(text: string): string[] {
  return [...text.matchAll(/\browgate_(?!app\b|catalogue\b(?!_))[a-z_]+/g)].map(([name]) => name);
}

/** Histograms are told as three. */
function isThere(name: string): boolean {
  return names.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ""));
}

describe("docs/operations", () => {
  for (const file of ["dashboard.json", "alerts.yaml"]) {
    it(`${file} names metrics that are there [H15]`, async () => {
      const named = listNamed(await read(`operations/${file}`));
      assert(named.length >= 8);
      assertEquals(named.filter((name) => !isThere(name)), []);
    });
  }

  it("dashboard.json shows every metric, in panels of their own [H15]", async () => {
    const text = await read("operations/dashboard.json");
    const { panels } = JSON.parse(text) as { panels: { id: number }[] };
    assertEquals(new Set(panels.map(({ id }) => id)).size, panels.length);
    assertEquals([...names].filter((name) => !text.includes(name)), []);
  });

  it("alerts.yaml has no name twice and an expression for each [H15]", async () => {
    const text = await read("operations/alerts.yaml");
    const alerts = [...text.matchAll(/- alert: (\w+)\n\s+expr: /g)].map(([, name]) => name);
    assertEquals(alerts.length, text.split("- alert:").length - 1);
    assertEquals(new Set(alerts).size, alerts.length);
  });

  it("operators.md lets Prometheus ask where the service listens and has its figures", async () => {
    const [block = "", ...others] = readTexts(await readDocument("docs/operators.md"), "yaml");
    assertEquals(others, []);
    // Without a metrics_path it asks /metrics.
    assertEquals(block.includes("metrics_path"), false);
    const [, address] = /targets: \["([^"]+)"\]/.exec(block) ?? [];
    const { config } = readConfig({});
    assertEquals(address, `${config!.host}:${config!.port}`);
  });

  it("operators.md has a row for each metric and no others [H15]", async () => {
    const page = await read("operators.md");
    const rows = [...page.matchAll(/^\| `(rowgate_\w+)`/gm)].map(([, name]) => name!);
    assertEquals(rows.sort(), [...names].sort());
  });
});

// The requests that the console and the hand-out give to copy are run as they are, in curl, Python, Node and Deno,
// against the demonstration with a row whose text is hostile; n8n's node is read page by page as n8n does.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { DescribedTable, ServiceRequest } from "../../src/describe/reference/described.ts";
import { readTable } from "../../src/describe/reference/read_table.ts";
import { REQUEST_FORMATS } from "../../src/describe/reference/request_formats.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { runCopied } from "./run_copied.ts";
import { runProgram } from "./run_program.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const HOSTILE = `'"\\ $HOME \`id\` %s {{ 1 }} </script>\n\u202e\u2028🦊`;
describe("copied requests", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";
  let requests: readonly ServiceRequest[] = [];
  let expected: readonly unknown[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-copied-"));
    service = await startDemonstration();
    server = await serveApp(service.app);
    await service.database.run(
      (sql) => sql`update orders set note = ${HOSTILE}::text where tenant_id = 'acme' and id = 1`,
      { write: true },
    );
    const { tables } = await send({ method: "GET", path: "integration/tables" }) as {
      readonly tables: readonly DescribedTable[];
    };
    const orders = tables.find(({ name }) => name === "orders")!;
    const read = await readTable(orders, { scopes: ["query", "update"], send });
    const hostile = { method: "POST", path: "integration/tables/orders/query" } as const;
    const filters = { and: [{ field: "note", op: "eq", value: HOSTILE }] };
    const { examples } = read!;
    assertEquals(examples.length, 5);
    requests = [
      ...examples.map(({ request }) => request),
      { ...hostile, body: { filters, select: ["id", "note"] } },
    ];
    expected = await Promise.all(requests.map(send));
    assertEquals((expected.at(-1) as { readonly total: number }).total, 1);
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  for (
    const [format, runner] of [
      ["curl", "curl"],
      ["Python", "Python"],
      ["fetch", "Deno"],
      ["fetch", "Node"],
    ] as const
  ) {
    it(`run with nothing but the tool itself, and print the response: ${format}, ${runner}`, async () => {
      const printed = await runCopied(runner, write(format));
      // Cursors differ.
      const compared = ({ cursor: _, ...rest }: Record<string, unknown>) => rest;
      const bodies = expected.map((body) => compared(body as Record<string, unknown>));
      if (printed !== undefined) assertEquals(printed.map(compared), bodies);
    });
  }

  it("are TypeScript", async () => {
    const [, update] = write("fetch");
    await writeFile(join(folder, "update.ts"), update!);
    const checked = ["check", "--quiet", "--no-config", "update.ts"];
    assertEquals(await runProgram(process.execPath, checked, folder), "");
  });

  it("read all pages in n8n", async () => {
    const query = { body: { filters: { and: [] }, per_page: 5, page: 2 }, method: "POST" } as const;
    const path = "integration/tables/orders/query";
    const pages = await readPages({ ...query, path }) as { records: unknown[]; total: number }[];
    assert(pages.length > 5);
    assertEquals(pages.flatMap(({ records }) => records).length, pages[0]!.total);
    const changes = {
      method: "GET",
      path: "integration/tables/orders/changes?limit=1000",
    } as const;
    const lists = await readPages(changes) as { changes: unknown[]; more: boolean }[];
    assertEquals([lists[0]!.more, lists.at(-1)!.more], [true, false]);
    assertEquals(lists.flatMap(({ changes }) => changes).length, pages[0]!.total);
  });

  /** Sends the requests of a node as n8n does: by its expressions, until the one that ends them is true. */
  async function readPages(request: ServiceRequest): Promise<readonly unknown[]> {
    const text = REQUEST_FORMATS.find(({ name }) => name === "n8n")!.write(request, server.address);
    const { parameters } = JSON.parse(text).nodes[0];
    const { nextURL, completeExpression } = parameters.options.pagination.pagination;
    const evaluate = (expression: string, response: object) =>
      new Function("$response", `return ${expression.slice(3, -2)}`)(response);
    const pages: unknown[] = [];
    for (let url = parameters.url;;) {
      const response = await fetch(url, {
        method: parameters.method,
        headers: {
          "authorization": "Bearer TOKEN",
          ...(parameters.sendBody && { "content-type": "application/json" }),
          ...Object.fromEntries(
            (parameters.headerParameters?.parameters ?? [])
              .map(({ name, value }: { name: string; value: string }) => [name, value]),
          ),
        },
        ...(parameters.sendBody && { body: parameters.jsonBody }),
      });
      assertEquals(response.status, 200);
      const body = await response.json();
      pages.push(body);
      const given = { body, headers: Object.fromEntries(response.headers), statusCode: 200 };
      if (evaluate(completeExpression, given)) return pages;
      url = evaluate(nextURL, given);
    }
  }

  async function send({ method, path, body, prefer }: ServiceRequest): Promise<unknown> {
    const response = await fetch(new URL(path, server.address), {
      method,
      headers: {
        authorization: "Bearer TOKEN",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(prefer !== undefined && { prefer }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    assertEquals(response.status, 200, answer.error);
    return answer;
  }

  function write(format: string): readonly string[] {
    const { write } = REQUEST_FORMATS.find(({ name }) => name === format)!;
    return requests.map((request) => write(request, server.address));
  }
});

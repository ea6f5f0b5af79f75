// docs/recipes/airbyte.yaml: its components have the parameters that Airbyte's schema of declarative sources has, and
// its requests, with its expressions evaluated, read the demonstration page by page. Airbyte itself is not run.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readDocument } from "../docs/blocks.ts";
import { type DocumentedService, startDemonstration } from "../docs/documented_service.ts";

type Node = { readonly [key: string]: unknown };

/** What Airbyte allows and needs, for the components used, from its declarative_component_schema.yaml. */
const COMPONENTS: Readonly<Record<string, { needed: string; allowed?: string }>> = {
  DeclarativeSource: { needed: "version check streams spec", allowed: "definitions" },
  CheckStream: { needed: "stream_names" },
  DeclarativeStream: {
    needed: "retriever",
    allowed: "name primary_key schema_loader incremental_sync $parameters",
  },
  SimpleRetriever: { needed: "requester record_selector", allowed: "paginator" },
  HttpRequester: {
    needed: "url_base",
    allowed: "path http_method authenticator request_headers request_body_json error_handler",
  },
  BearerAuthenticator: { needed: "api_token" },
  DefaultErrorHandler: { needed: "", allowed: "max_retries backoff_strategies" },
  WaitTimeFromHeader: { needed: "header" },
  ExponentialBackoffStrategy: { needed: "", allowed: "factor" },
  DefaultPaginator: { needed: "pagination_strategy", allowed: "page_token_option" },
  CursorPagination: { needed: "cursor_value", allowed: "stop_condition page_size" },
  RequestOption: { needed: "inject_into", allowed: "field_name" },
  RecordSelector: { needed: "extractor" },
  DpathExtractor: { needed: "field_path" },
  DatetimeBasedCursor: {
    needed: "cursor_field datetime_format start_datetime",
    allowed: "cursor_datetime_formats lookback_window",
  },
  MinMaxDatetime: { needed: "datetime", allowed: "datetime_format" },
  InlineSchemaLoader: { needed: "schema" },
  Spec: { needed: "connection_specification" },
};

interface Context {
  readonly config: Node;
  readonly parameters: Node;
  readonly stream_interval: Node;
  readonly link?: string | undefined;
}

/** Expressions of the manifest, as Jinja evaluates them; Airbyte parses the header Link. */
const EXPRESSIONS: Readonly<Record<string, (context: Context) => unknown>> = {
  "headers['link']['next']['url'] | regex_search('after=([^&]+)')": ({ link = "" }) =>
    /after=([^&]+)/.exec(/<([^>]*)>; rel="next"/.exec(link)![1]!)![1],
  "'next' not in headers['link']": ({ link }) => link === undefined,
};

function evaluate(value: unknown, context: Context): unknown {
  if (Array.isArray(value)) return value.map((each) => evaluate(each, context));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, evaluate(each, context)]),
    );
  }
  if (typeof value !== "string") return value;
  const whole = /^\{\{ (.*) \}\}$/.exec(value)?.[1];
  if (whole !== undefined && whole in EXPRESSIONS) return EXPRESSIONS[whole]!(context);
  return value.replace(/\{\{ (\w+)\['(\w+)'\] \}\}/g, (_, name: keyof Context, key: string) => {
    const found = (context[name] as Node)[key];
    assert(found !== undefined, value);
    return String(found);
  });
}

describe("the manifest for Airbyte", () => {
  let manifest: Node = {};
  let service: DocumentedService;
  before(async () => {
    const cwd = fileURLToPath(new URL("../packages/", import.meta.url));
    const input = await readDocument("docs/recipes/airbyte.yaml");
    const { stdout, stderr } = spawnSync("node", ["read_yaml.mjs"], { cwd, input });
    assertEquals(stderr.toString(), "");
    manifest = JSON.parse(stdout.toString());
    service = await startDemonstration();
  });
  after(() => service.close());

  /** Puts what is referred to in place, as Airbyte does: members beside `$ref` win. */
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...own } = value as Node;
    const referred = typeof $ref === "string"
      ? (manifest.definitions as Node)[$ref.replace("#/definitions/", "")]
      : {};
    assert(referred !== undefined, String($ref));
    return Object.fromEntries(
      Object.entries({ ...referred as Node, ...own }).map(([key, each]) => [key, resolve(each)]),
    );
  }

  function listStreams(): readonly Node[] {
    return resolve(manifest.streams) as readonly Node[];
  }

  it("has components with the members that Airbyte's schema allows", () => {
    const check = (value: unknown): void => {
      if (Array.isArray(value)) return value.forEach(check);
      if (typeof value !== "object" || value === null) return;
      const { type, ...members } = value as Node;
      const component = typeof type === "string" ? COMPONENTS[type] : undefined;
      if (typeof type === "string" && /^[A-Z]/.test(type)) {
        assert(component !== undefined, type);
        const needed = component.needed.split(" ").filter((name) => name !== "");
        const allowed = [...needed, ...component.allowed?.split(" ") ?? []];
        for (const name of needed) assert(name in members, `${type}: ${name}`);
        for (const name of Object.keys(members)) assert(allowed.includes(name), `${type}: ${name}`);
      }
      Object.values(members).forEach(check);
    };
    const { definitions: _, ...rest } = manifest;
    check({ ...rest, streams: listStreams() });
    assertEquals(manifest.type, "DeclarativeSource");
  });

  it("reads every row of a table, and those that were modified in a time, page by page", async () => {
    const [countries, orders] = listStreams();
    assertEquals((await read(countries!)).length, 16);
    const all = {
      start_time: "2000-01-01T00:00:00.000000+0000",
      end_time: "2100-01-01T00:00:00.000000+0000",
    };
    const total = (await count({})).total;
    const found = await read(orders!, all);
    assertEquals(found.length, total);
    assertEquals(new Set(found.map(({ id }) => id)).size, total);
    const late = { ...all, start_time: "2026-04-30T15:00:00.000000+0000" };
    const filters = { and: [{ field: "modified_at", op: "gte", value: late.start_time }] };
    assertEquals((await read(orders!, late)).length, (await count({ filters })).total);
    // The schema names columns of the table.
    const { properties } = (orders!.schema_loader as Node).schema as { properties: Node };
    for (const name of Object.keys(properties)) assert(name in found[0]!, name);
  });

  async function read(stream: Node, interval: Node = {}): Promise<readonly Node[]> {
    const { requester, paginator } = stream.retriever as Record<string, Record<string, unknown>>;
    const context = {
      config: { url: "http://127.0.0.1", token: "TOKEN", start_date: "2020-01-01T00:00:00Z" },
      parameters: stream.$parameters as Node,
      stream_interval: interval,
    };
    const { url_base, path, http_method, request_headers, request_body_json, authenticator } =
      evaluate(requester, context) as Record<string, string>;
    const records: Node[] = [];
    for (let after: unknown, pages = 0;; pages++) {
      assert(pages < 100);
      const response = await service.app(
        new Request(`${url_base}${path}${after === undefined ? "" : `?after=${after}`}`, {
          method: http_method!,
          headers: {
            ...request_headers as unknown as Record<string, string>,
            "authorization": `Bearer ${(authenticator as unknown as Node).api_token}`,
            "content-type": "application/json",
          },
          body: JSON.stringify(request_body_json),
        }),
      );
      const body = await response.json();
      assertEquals(response.status, 200, body.error);
      records.push(...body.records);
      const link = response.headers.get("link") ?? undefined;
      const { cursor_value, stop_condition } = paginator!.pagination_strategy as Node;
      if (evaluate(stop_condition, { ...context, link })) return records;
      after = evaluate(cursor_value, { ...context, link });
    }
  }

  async function count(body: object): Promise<{ readonly total: number }> {
    const response = await service.app(
      new Request("http://127.0.0.1/integration/tables/orders/query", {
        method: "POST",
        headers: { "authorization": "Bearer TOKEN", "content-type": "application/json" },
        body: JSON.stringify({ ...body, per_page: 1 }),
      }),
    );
    return await response.json();
  }
});

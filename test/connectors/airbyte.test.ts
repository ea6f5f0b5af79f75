// docs/recipes/airbyte.yaml: its components have the members that Airbyte's schema of declarative sources has, and
// its requests, with its expressions evaluated, read the demonstration page by page. Airbyte itself is not run.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readDocument } from "../docs/blocks.ts";
import { type DocumentedService, startDemonstration } from "../docs/documented_service.ts";

type Node = { readonly [key: string]: unknown };

/**
 * What Airbyte's schema says of the components that are used: its members, those that are needed with `!`, and
 * what each can be. Members that the schema calls deprecated are left out.
 */
const COMPONENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DeclarativeSource: {
    "version!": "text",
    "check!": "CheckStream",
    "streams!": "DeclarativeStream[]",
    spec: "Spec",
  },
  CheckStream: { stream_names: "text[]" },
  DeclarativeStream: {
    "retriever!": "SimpleRetriever",
    name: "text",
    primary_key: "text text[]",
    schema_loader: "InlineSchemaLoader",
    incremental_sync: "DatetimeBasedCursor",
    $parameters: "object",
  },
  SimpleRetriever: {
    "requester!": "HttpRequester",
    "record_selector!": "RecordSelector",
    paginator: "DefaultPaginator",
  },
  HttpRequester: {
    url: "text",
    http_method: "text",
    authenticator: "BearerAuthenticator",
    request_headers: "object",
    request_body: "RequestBodyJsonObject",
    error_handler: "DefaultErrorHandler",
  },
  RequestBodyJsonObject: { "value!": "object" },
  BearerAuthenticator: { "api_token!": "text" },
  DefaultErrorHandler: {
    max_retries: "integer",
    backoff_strategies: "WaitTimeFromHeader[] ExponentialBackoffStrategy[]",
  },
  WaitTimeFromHeader: { "header!": "text" },
  ExponentialBackoffStrategy: { factor: "integer text" },
  DefaultPaginator: {
    "pagination_strategy!": "CursorPagination",
    page_token_option: "RequestOption",
  },
  CursorPagination: { "cursor_value!": "text", stop_condition: "text", page_size: "integer" },
  RequestOption: { "inject_into!": "text", field_name: "text" },
  RecordSelector: { "extractor!": "DpathExtractor" },
  DpathExtractor: { "field_path!": "text[]" },
  DatetimeBasedCursor: {
    "cursor_field!": "text",
    "datetime_format!": "text",
    "start_datetime!": "MinMaxDatetime text",
    cursor_datetime_formats: "text[]",
    lookback_window: "text",
  },
  MinMaxDatetime: { "datetime!": "text", datetime_format: "text" },
  InlineSchemaLoader: { schema: "object" },
  Spec: { "connection_specification!": "object" },
};

/** What a value is, in the words of {@link COMPONENTS}. */
function nameKind(value: unknown): string {
  if (typeof value === "string") return "text";
  if (Number.isInteger(value)) return "integer";
  if (typeof value !== "object" || value === null) return typeof value;
  const { type } = value as Node;
  return typeof type === "string" && type in COMPONENTS ? type : "object";
}

/** Fails unless a component has what it needs, and nothing that its schema does not know or means otherwise. */
function checkComponent(name: string, { type, ...members }: Node): void {
  assertEquals(type, name);
  const rules = Object.entries(COMPONENTS[name]!);
  const kinds = new Map(rules.map(([key, value]) => [key.replace("!", ""), value.split(" ")]));
  for (const [key] of rules) {
    if (key.endsWith("!")) assert(key.slice(0, -1) in members, `${name}: ${key}`);
  }
  for (const [key, value] of Object.entries(members)) {
    const allowed = kinds.get(key);
    assert(allowed !== undefined, `${name}: ${key}`);
    for (const each of Array.isArray(value) ? value : [value]) {
      const kind = nameKind(each);
      assert(
        allowed.includes(Array.isArray(value) ? `${kind}[]` : kind),
        `${name}: ${key} ${kind}`,
      );
      if (kind in COMPONENTS) checkComponent(kind, each as Node);
    }
  }
}

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
    const { definitions: _, ...rest } = manifest;
    checkComponent("DeclarativeSource", { ...rest, streams: listStreams() });
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
    const { url, http_method, request_headers, request_body, authenticator } = evaluate(
      requester,
      context,
    ) as Record<string, string>;
    const records: Node[] = [];
    for (let after: unknown, pages = 0;; pages++) {
      assert(pages < 100);
      const response = await service.app(
        new Request(`${url}${after === undefined ? "" : `?after=${after}`}`, {
          method: http_method!,
          headers: {
            ...request_headers as unknown as Record<string, string>,
            "authorization": `Bearer ${(authenticator as unknown as Node).api_token}`,
            "content-type": "application/json",
          },
          body: JSON.stringify((request_body as unknown as Node).value),
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

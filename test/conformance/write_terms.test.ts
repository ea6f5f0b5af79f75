import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { SCOPES } from "../../src/access/scopes.ts";
import { isWrite } from "../../src/operations/operation.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";
import { checksumTenant } from "../support/checksum.ts";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const WEBHOOKS = "/integration/webhooks";
const WEBHOOK = { url: "https://hooks.example.org/catch/1", tables: ["guests"] };
const ROW = { filters: { id: 1 }, fields: { name: "written" } };

/** Which writes obey what all others refuse. */
const OBEYED: Readonly<Record<string, readonly string[]>> = {
  update_single: ["If-Match", "return=representation", "Return=Representation"],
  update_batch: ["return=representation", "Return=Representation", "on-error=continue"],
  create_records: ["return=representation", "Return=Representation", "on-error=continue"],
  delete_single: ["If-Match", "return=representation", "Return=Representation"],
  upsert_records: ["return=representation", "Return=Representation", "on-error=continue"],
};

/** A body that each write would accept. */
const BODIES: Readonly<Record<string, unknown>> = {
  update_single: ROW,
  update_bulk: ROW,
  update_batch: { updates: [ROW] },
  create_records: { records: [{ id: 999, name: "new" }] },
  upsert_records: { match: ["id"], records: [{ id: 999, name: "new" }] },
  delete_single: { filters: { id: 1 } },
  delete_bulk: { filters: { id: 1 } },
  create_webhook: WEBHOOK,
  mcp: {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "update_record", arguments: { table: "guests", ...ROW } },
  },
};

/** Headers with which clients of other APIs change what a write does. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["If-Match", '"1"'],
  ["If-Match", "*"],
  ["If_Match", '"1"'],
  ["If-None-Match", "*"],
  ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ["If-Modified-Since", "Thu, 01 Jan 2099 00:00:00 GMT"],
  ["If-Range", '"1"'],
  ["If", '(["1"])'],
  ["If-Schedule-Tag-Match", '"1"'],
  ["X-Goog-If-Generation-Match", "1"],
  ["Range", "0-0"],
  ["Range-Unit", "items"],
  ["Content-Range", "bytes 0-1/2"],
  ["Expect", "200-ok"],
  ["Content-Profile", "other"],
  ["Accept-Profile", "other"],
  ["Accept", "application/vnd.pgrst.object+json"],
  ["Accept", "application/vnd.pgrst.plan+json"],
  ["OData-Isolation", "snapshot"],
  ["Dry-Run", "true"],
  ["X-Dry-Run", "1"],
  ["X-Idempotency-Key", '"a"'],
  ["Idempotency_Key", '"a"'],
  ["Repeatability-Request-ID", "a"],
  ["X-Hasura-Role", "reader"],
  ["Impersonate-User", "reader"],
  ["Stripe-Account", "acct_1"],
  ["X-MCP-Readonly", "true"],
  ["MSCRM.SuppressDuplicateDetection", "false"],
];

const PREFERENCES: readonly (readonly [header: string, named: string])[] = [
  ["return=representation", "return=representation"],
  ["Return=Representation", "Return=Representation"],
  ["resolution=merge-duplicates", "resolution=merge-duplicates"],
  ["resolution=ignore-duplicates", "resolution=ignore-duplicates"],
  ["missing=default", "missing=default"],
  ["params=single-object", "params=single-object"],
  ["plurality=singular", "plurality=singular"],
  ["timezone=America/Los_Angeles", "timezone=America/Los_Angeles"],
  ["tx=commit", "tx"],
  ["on-error=continue", "on-error=continue"],
  ["odata.continue-on-error", "odata.continue-on-error"],
  ["continue-on-error=true", "continue-on-error=true"],
  ["count=exact, wait=1, resolution=merge-duplicates", "resolution=merge-duplicates"],
  ["handling=strikt", "handling=strikt"],
  ["handling=lenient; tx=rollback", "tx"],
  ["wait=1; max-affected=1", "max-affected"],
  ['wait="1, tx=rollback', "quote"],
  ['"tx=rollback"', "tx=rollback"],
  ["handling=strict, unheard-of", "unheard-of"],
];

const PARAMETERS = ["id=eq.5", "dry_run=1", "_method=DELETE", "columns=name", "limit=1", "x"];

const WITHOUT_MEANING: readonly (readonly [name: string, value: string])[] = [
  ["Prefer", "return=minimal, count=exact, respond-async, wait=10, unheard-of=1, page-token"],
  ["Prefer", "odata.maxpagesize=5, odata.include-annotations=*, odata.allow-entityreferences"],
  ["Expect", "100-continue"],
  ["Accept", "application/json;odata.metadata=minimal, text/csv;q=0.1"],
  ["OData-Version", "4.0"],
  ["Cache-Control", "no-cache"],
  ["X-Requested-With", "XMLHttpRequest"],
  ["X-Tenant-Id", "2"],
  ["X-HTTP-Method-Override", "patch"],
];

describeService("Writes that say more than their body", ({ service, single, query, run }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  const webhooks = () =>
    run(`select id, number, token_id, tenant, schema_name, url, secret, tables, state, reason,
    created_at, delivered, message_id from rowgate.webhooks order by 1`);
  let opened: Promise<{ token: string; id: string }> | undefined;

  /** A token with every scope, and a webhook of it. */
  function open() {
    return opened ??= (async () => {
      await run("grant insert, delete on guests to rowgate_app");
      await enableFeeds(service(), ["guests"]);
      await awaitFeeds(service(), ["guests"]);
      const token = await service().issue({ scopes: SCOPES });
      const created = await service().send("POST", WEBHOOKS, { body: WEBHOOK, token });
      return { token, id: (created.body["webhook"] as { id: string }).id };
    })();
  }

  /** Every write of the service, with a request that it would carry out. */
  async function listWrites() {
    const { token, id } = await open();
    const writes = OPERATIONS.filter(isWrite).map(({ name, method, path }) => ({
      name,
      method,
      path: path.replace(":table", "guests").replace(":id", id),
    }));
    return [...writes, { name: "mcp", method: "POST", path: "/mcp" }].map((write) => ({
      ...write,
      send: ({ search = "", headers = {} }: { search?: string } & Pick<SendOptions, "headers">) =>
        service().send(write.method, write.path + search, {
          token,
          headers,
          ...(write.name in BODIES && { body: BODIES[write.name] }),
        }),
    }));
  }

  /** Runs a function, and asserts that it changed nothing. */
  async function unchanged(act: () => Promise<void>): Promise<void> {
    await open();
    const before = [await mine(), await webhooks()];
    await act();
    assertEquals([await mine(), await webhooks()], before);
  }

  it("a header that changes what a write does is 400 at the header, on every operation that writes [H29] [HT26]", async () => {
    await unchanged(async () => {
      for (const { name, send } of await listWrites()) {
        for (const [header, value] of HEADERS) {
          if (OBEYED[name]?.includes(header)) continue;
          const error = assertRejected(await send({ headers: { [header]: value } }), 400);
          const path = error.slice(0, error.indexOf(":")).toLowerCase();
          assertEquals(path, header.toLowerCase(), `${name}: ${error}`);
          assertMatch(error, /, expected /);
        }
      }
    });
  });

  it("a preference that changes what a write does is 400, on every operation that does not obey it [H30] [HT27]", async () => {
    await unchanged(async () => {
      for (const { name, send } of await listWrites()) {
        for (const [prefer, named] of PREFERENCES) {
          if (OBEYED[name]?.includes(prefer)) continue;
          const error = assertRejected(await send({ headers: { prefer } }), 400);
          assert(error.startsWith("Prefer: ") && error.includes(named), `${name}: ${error}`);
        }
        if (/^(update|delete)_(single|bulk|batch)$/.test(name)) continue;
        if (["create_records", "upsert_records"].includes(name)) {
          const error = assertRejected(await send({ headers: { prefer: "max-affected=1" } }), 400);
          assertMatch(error, /^Prefer: .*max-affected/);
          continue;
        }
        for (const prefer of ["tx=rollback", "max-affected=0", "max-affected=1"]) {
          const error = assertRejected(await send({ headers: { prefer } }), 400);
          assertMatch(error, /^Prefer: .*expected no preference$/);
        }
      }
    });
  });

  it("a parameter in the address of a write is 400, on every operation that writes [H31] [HT19]", async () => {
    await unchanged(async () => {
      for (const { send } of await listWrites()) {
        for (const parameter of PARAMETERS) {
          const name = parameter.split("=")[0]!;
          const error = assertRejected(await send({ search: `?${parameter}` }), 400);
          assertEquals(
            error,
            `${name}: "${name}" is not a parameter of this operation, expected none`,
          );
        }
      }
    });
  });

  it("an idempotency key is 400 on every write whose answer is not kept [IK4]", async () => {
    await unchanged(async () => {
      for (const { name, send } of await listWrites()) {
        if (/^(update|delete)_(single|bulk|batch)$/.test(name)) continue;
        if (["create_records", "upsert_records"].includes(name)) continue;
        const error = assertRejected(await send({ headers: { "idempotency-key": '"a"' } }), 400);
        assertMatch(error, /^Idempotency-Key: no answer of this operation is kept/);
      }
    });
  });

  it("a body is 400 on a delete that reads none [H31]", async () => {
    await unchanged(async () => {
      const { token, id } = await open();
      const headers = { "content-length": "11" };
      const options = { token, headers, body: { url: "x" } };
      const refused = await service().send("DELETE", `${WEBHOOKS}/${id}`, options);
      assertRejected(refused, 400, "body: this operation takes no body, expected none");
    });
  });

  it("a header that asks for another method is 400 on every path, of reads too [H32] [HT4]", async () => {
    const { id, token } = await open();
    await unchanged(async () => {
      for (const header of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
        const headers = { [header]: "DELETE" };
        const path = `${WEBHOOKS}/${id}`;
        for (const method of ["GET", "HEAD"]) {
          const response = await service().send(method, path, { headers, token });
          assertEquals(response.status, 400);
        }
        for (
          const response of [
            await query("guests", {}, { headers }),
            await single("guests", ROW, { headers }),
            await service().send("POST", WEBHOOKS, { headers, token, body: WEBHOOK }),
          ]
        ) {
          const error = assertRejected(response, 400);
          assertEquals(error.split(":")[0]!.toLowerCase(), header.toLowerCase());
        }
      }
    });
  });

  it("headers of a write are checked after token, table and scope, and before the body is read [O17]", async () => {
    const headers = { "if-range": '"1"' };
    assertRejected(await single("guests", ROW, { headers, token: null }), 401);
    assertRejected(await single("nothing", ROW, { headers }), 404);
    const reader = await service().issue({ scopes: ["query"] });
    assertRejected(await single("guests", ROW, { headers, token: reader }), 403);
    const body = { body: WEBHOOK, headers, token: reader };
    assertRejected(await service().send("POST", WEBHOOKS, body), 403);
    assertRejected(await single("guests", undefined, { headers, raw: "{" }), 400, /^If-Range: /);
  });

  it("headers and preferences without a meaning for a write are ignored [U48] [H33]", async () => {
    for (const [header, value] of WITHOUT_MEANING) {
      const headers = { [header]: value };
      const response = await single("guests", ROW, { headers });
      assertEquals(assertOk(response)["matched"], 1, `${header}: ${value}`);
      assertEquals(response.headers.get("preference-applied"), null);
    }
  });

  it("a query ignores the conditions and preferences of writes [H33]", async () => {
    const headers = { "if-match": "*", "prefer": "tx=rollback, return=representation" };
    assertOk(await query("guests", {}, { headers }));
  });
}, { environment: { ROWGATE_WEBHOOK_HOSTS: "hooks.example.org" } });

import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertRejected, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const PREFER = { prefer: "page-token" };
const BODY = { sort: [{ field: "title" }], select: ["fid"], per_page: 5 };
const DEALS = "/integration/tables/deals/query";
/** What a page token that was made up is answered with. */
const MADE_UP = /^after: The page token was not issued here, expected /;

const lines: string[] = [];

function tokenOf(response: ReceivedResponse): string {
  return /[?]after=([\w-]+)>/.exec(response.headers.get("link") ?? "")![1]!;
}

describeService("attacks on page tokens", ({ query, run, service }) => {
  const at = (token: string, body: unknown = BODY, options: SendOptions = {}) =>
    service().send("POST", `${DEALS}?after=${token}`, { body, ...options });

  const next = async (body: unknown = BODY, options: SendOptions = {}) =>
    tokenOf(await query("deals", body, { headers: PREFER, ...options }));

  it("rejects a page token with any character changed, cut off or added [PT1]", async () => {
    const token = await next();
    const places = Array.from({ length: 40 }, (_, part) => Math.floor(part * token.length / 40));
    for (const place of [...places, token.length - 1]) {
      const other = token[place] === "A" ? "B" : "A";
      const changed = token.slice(0, place) + other + token.slice(place + 1);
      assertRejectedAt(await at(changed), "after", MADE_UP);
    }
    for (const changed of [token.slice(1), token.slice(0, -1), `${token}A`, `${token}%3D`]) {
      assertRejectedAt(await at(changed), "after", MADE_UP);
    }
    assertEquals((await at(token)).status, 200);
  });

  it("rejects another tenant's page token like one that was made up [PT2]", async () => {
    const { b } = service().tokens;
    const own = await next();
    const other = await next(BODY, { token: b });
    const rejected = await at(other);
    assertRejectedAt(rejected, "after", MADE_UP);
    assertEquals(rejected.text, (await at("AAAA")).text);
    assertRejectedAt(await at(own, BODY, { token: b }), "after", MADE_UP);
  });

  it("never applies the filters of a page token in place of those of the body [PT3]", async () => {
    const narrow = { ...BODY, filters: { and: [{ field: "fid", op: "lt", value: 20 }] } };
    const token = await next(narrow);
    for (const filters of [undefined, { and: [] }, { or: [] }]) {
      assertRejectedAt(await at(token, { ...narrow, filters }), "after", "other filters");
    }
    assertRejectedAt(await at(token, { ...narrow, sort: [] }), "after", "another sort");
    const elsewhere = `/integration/tables/measurements/query?after=${token}`;
    const response = await service().send("POST", elsewhere, { body: { per_page: 5 } });
    assertRejectedAt(response, "after", "another table");
  });

  it("rejects page tokens of any size and characters [PT5]", async () => {
    const long = "A".repeat(7000);
    for (const token of ["", "x", "%00", "%20", "é", "..%2F", "'; drop table deals --", long]) {
      assertRejectedAt(await at(token), "after", MADE_UP);
    }
    const [{ count }] = await run("select count(*)::int from deals") as [{ count: number }];
    assertEquals(count, 120);
  });

  it("rejects several page tokens in one address [PT6]", async () => {
    const token = await next();
    const path = `${DEALS}?after=${token}&after=${token}`;
    assertRejectedAt(await service().send("POST", path, { body: BODY }), "after", "2 page tokens");
    const encoded = `${DEALS}?%61fter=${token}&after=${token}`;
    assertRejectedAt(await service().send("POST", encoded, { body: BODY }), "after");
    const others = `${DEALS}?page=7&after=${token}&x=${"y".repeat(50)}`;
    const found = await service().send("POST", others, { body: BODY });
    assertEquals(found.body["page"], 2);
  });

  it("writes no page token to a log, a metric or an error [PT7]", async () => {
    const token = await next();
    assertEquals((await at(token)).status, 200);
    const wrong = `${token.slice(0, -3)}AAA`;
    const rejected = await at(wrong);
    assert(!rejected.text.includes(wrong.slice(0, 30)));
    const metrics = await service().send("GET", "/metrics");
    const written = [...lines, JSON.stringify(service().observations), metrics.text].join("\n");
    for (const part of [token.slice(0, 30), "after="]) assert(!written.includes(part), part);
    assert(written.includes(DEALS));
  });

  it("rejects a page token for a column that changed its type since [PT12]", async () => {
    await run(`create table retyped (id int4 primary key, tenant_id int4 not null, code text);
      insert into retyped select n, 1, 'c' || n from generate_series(1, 9) n;
      grant select on retyped to rowgate_app`);
    const path = "/integration/tables/retyped/query";
    const body = { sort: [{ field: "code" }], per_page: 2 };
    const ask = (address: string) => service().send("POST", address, { body, headers: PREFER });
    const first = await waitFor(() => ask(path), ({ status }) => status === 200);
    const token = tokenOf(first);
    await run("alter table retyped alter code type int4 using substr(code, 2)::int4");
    const response = await waitFor(
      () => ask(`${path}?after=${token}`),
      ({ status }) => status === 400,
    );
    assertRejectedAt(response, "after", "another sort");
    const renewed = tokenOf(await ask(path));
    await run("alter table retyped drop code");
    const gone = await waitFor(
      () => ask(`${path}?after=${renewed}`),
      ({ body }) => String(body["error"]).startsWith("sort[0]"),
    );
    assertRejectedAt(gone, "sort[0].field", "Unknown column");
  });

  it("needs an API token that is valid, and allows the table and the query [PT13] [PT14]", async () => {
    const { issue, tokens } = service();
    const token = await next();
    assertRejected(await at(token, BODY, { token: null }), 401);
    assertRejected(await at(token, BODY, { token: "rg_x" }), 401);
    assertRejected(await at(token, BODY, { token: tokens["update"]! }), 403);
    const narrow = await issue({ tables: ["notes"] });
    assertRejected(await at(token, BODY, { token: narrow }), 404);
    // Another token of the same tenant may go on.
    assertEquals((await at(token, BODY, { token: tokens["deals"]! })).status, 200);
  });

  it("passes the values of a row to Postgres as parameters [PT15]", async () => {
    const evil = "'); drop table evil; --";
    await run(`create table evil (id int4 primary key, tenant_id int4 not null, name text);
      insert into evil select n, 1, $x$${evil}$x$ || n from generate_series(1, 5) n;
      grant select on evil to rowgate_app`);
    const path = "/integration/tables/evil/query";
    const body = { sort: [{ field: "name", direction: "desc" }], per_page: 1 };
    const ask = (address: string) => service().send("POST", address, { body, headers: PREFER });
    const pages = [await waitFor(() => ask(path), ({ status }) => status === 200)];
    while (pages.at(-1)!.headers.has("link")) {
      pages.push(await ask(`${path}?after=${tokenOf(pages.at(-1)!)}`));
    }
    assertEquals(pages.flatMap(recordsOf).map(({ id }) => id), [5, 4, 3, 2, 1]);
  });
}, { logged: (line) => lines.push(line) });

describeService("page tokens without their secret", ({ kind, query, run, service }) => {
  it("are not issued, while numbered pages and everything else work [PT9] [R48]", async () => {
    await run(
      kind === "real"
        ? "revoke select on rowgate.secrets from rowgate_app"
        : "drop table rowgate.secrets",
    );
    const response = await query("deals", BODY, { headers: PREFER });
    assertEquals(recordsOf(response).length, 5);
    assertEquals(response.headers.get("link"), null);
    assertEquals(response.headers.get("preference-applied"), null);
    const both = { prefer: "count=none, page-token" };
    const uncounted = await query("deals", { ...BODY, page: 2 }, { headers: both });
    assertEquals(uncounted.headers.get("preference-applied"), "count=none");
    assertEquals(uncounted.body["page"], 2);
    const path = `${DEALS}?after=AAAA`;
    assertMatch(
      String((await service().send("POST", path, { body: BODY })).body["error"]),
      MADE_UP,
    );
  });
});

/** Asks until the response is right, and then once more: how often it had to ask is chance. */
async function waitFor(
  ask: () => Promise<ReceivedResponse>,
  isRight: (response: ReceivedResponse) => boolean,
): Promise<ReceivedResponse> {
  await waitUntil(async () => isRight(await ask()));
  return await ask();
}

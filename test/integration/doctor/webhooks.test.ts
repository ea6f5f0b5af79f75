import { assertEquals, assertMatch } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { SCHEMA_STATEMENTS } from "../../../src/database/schema/statements.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

const ON = { ROWGATE_WEBHOOK_HOSTS: "hooks.zapier.com" };

describe("doctor on webhooks", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase("real", "empty");
  });
  after(() => test.drop());
  beforeEach(async () => {
    await test.admin.unsafe(`drop schema if exists rowgate cascade;
      ${SCHEMA_STATEMENTS.join(";")};
      grant usage on schema rowgate to rowgate_app;
      grant select on rowgate.tokens, rowgate.secrets to rowgate_app;
      grant select, insert, update, delete on rowgate.webhooks to rowgate_app;
      insert into rowgate.tokens (id, digest, tenant, scopes) values ('t', 'none', '1', '{webhooks}');
      insert into rowgate.webhooks (id, token_id, tenant, schema_name, url, secret, tables, positions)
        select 'wh_' || n, 't', '1', 'public', 'https://hooks.zapier.com/' || n, 'whsec_x', '{deals}', '{}'
        from generate_series(1, 4) n`);
  });

  const look = async (environment: Readonly<Record<string, string>>) =>
    findingsOf(await examineDatabase(test, { environment }), "webhooks");
  const run = (text: string) => test.admin.unsafe(text);

  it("finds nothing where all are delivered, or webhooks are off and there are none [WH27]", async () => {
    assertEquals(await look(ON), []);
    const { seen } = (await examineDatabase(test, { environment: ON })).get("webhooks")!;
    assertEquals(seen, "on, 4 webhooks enabled");
    await run("delete from rowgate.webhooks");
    assertEquals(await look({}), []);
    await run("revoke all on rowgate.webhooks from rowgate_app");
    assertEquals(await look({}), []);
  });

  it("finds that hosts are named but the table is missing, or no right to it, and its statement fixes that [WH27]", async () => {
    await run("revoke delete on rowgate.webhooks from rowgate_app");
    const what = "ROWGATE_WEBHOOK_HOSTS is set, but";
    assertEquals(await look(ON), [
      `warning: ${what} the role rowgate_app may not keep rowgate.webhooks`,
    ]);
    const { findings } = (await examineDatabase(test, { environment: ON })).get("webhooks")!;
    await run(findings[0]!.fix);
    assertEquals(await look(ON), []);
    await run("drop table rowgate.webhooks");
    assertEquals(await look(ON), [`warning: ${what} there is no table rowgate.webhooks`]);
  });

  it("finds webhooks that nothing delivers: off, disabled, failing or late [WH27]", async () => {
    assertEquals(await look({}), [
      "warning: 4 webhooks would be delivered, but ROWGATE_WEBHOOK_HOSTS is not set",
    ]);
    await run(
      `update rowgate.webhooks set state = 'disabled', reason = 'it answered 410', disabled_at = now()
      where id = 'wh_1'`,
    );
    await run(`update rowgate.webhooks set failed_attempts = 3, last_error = 'status 500',
      due_at = now() + interval '1 hour' where id = 'wh_2'`);
    await run(
      `update rowgate.webhooks set due_at = now() - interval '11 minutes' where id in ('wh_3', 'wh_4')`,
    );
    const [disabled, failing, late, ...others] = await look(ON);
    assertEquals(disabled, "warning: 1 webhook disabled; wh_1: it answered 410");
    assertEquals(failing, "warning: 1 webhook failed 3 times in a row or more; wh_2: status 500");
    assertMatch(
      late!,
      /^warning: 2 webhooks due for 10 minutes or more; wh_[34]: since \d{4}-.* UTC$/,
    );
    assertEquals(others, []);
  });
});

import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createRaiseInC } from "../../support/raise_in_c.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const REFUSAL = [403, "The database does not allow updates of this table"];

/**
 * Stand-ins for access methods that read and insert, and fail when an update comes to a row, which no
 * EXPLAIN shows: all are the heap. Any table that is made with `columnar` gets a trigger that fails. With
 * `unsure` the failure is that of a check, which like an engine's own is in no function of anyone.
 */
describe("tables of engines that refuse an update only when it comes to the row", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
    await createRaiseInC(service.database);
    const [{ name } = {}] = await service.database.admin`
      select quote_ident(current_database()) as name`;
    await service.database.admin.unsafe(`grant temporary on database ${name} to rowgate_app;
      create function break() returns trigger language plpgsql as
        $$ begin perform public.raise_in_c('XX000'); end $$;
      create function break_columnar() returns event_trigger language plpgsql as $$
        declare made regclass; begin
          select c.oid into made from pg_event_trigger_ddl_commands() d
            join pg_class c on c.oid = d.objid join pg_am m on m.oid = c.relam and m.amname = 'columnar';
          if made is not null then
            execute format('create trigger break before update on %s for each row execute function public.break()', made);
          end if;
        end $$;
      create event trigger break_columnar on ddl_command_end when tag in ('CREATE TABLE')
        execute function break_columnar();
      create access method columnar type table handler heap_tableam_handler;
      create access method whole type table handler heap_tableam_handler;
      create table old_orders (tenant_id int4 not null, id int4 primary key, code text) using columnar;
      create table new_orders (tenant_id int4 not null, id int4 primary key, code text) using whole;
      create table half_orders (tenant_id int4 not null, id int4, code text, primary key (tenant_id, id))
        partition by range (id);
      create table half_orders_1 partition of half_orders for values from (1) to (5) using columnar;
      create table half_orders_2 partition of half_orders for values from (5) to (9) using whole;
      insert into old_orders values (1, 1, 'a');
      insert into new_orders values (1, 1, 'a');
      insert into half_orders values (1, 1, 'a'), (1, 5, 'a');
      grant select, update on old_orders, new_orders, half_orders to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
  });
  after(() => service?.close());

  const update = (table: string, id: number, code: string, kind = "single") =>
    service.send("PATCH", `/integration/tables/${table}/records/${kind}`, {
      body: { filters: { id }, fields: { code } },
    });

  async function isListed(table: string): Promise<boolean> {
    const { body } = await service.send("GET", "/integration/tables");
    const tables = body["tables"] as { name: string; writable: boolean }[];
    return tables.find(({ name }) => name === table)!.writable;
  }

  async function isWritable(table: string): Promise<boolean> {
    const writable = await isListed(table);
    const fields = await service.send("GET", `/integration/tables/${table}/fields`);
    const open = (fields.body["fields"] as { writable: boolean }[]).some((each) => each.writable);
    const document = await service.send("GET", "/openapi.json");
    const path = `/integration/tables/${table}/records/bulk`;
    assertEquals([open, path in (document.body["paths"] as object)], [writable, writable]);
    return writable;
  }

  it("are shown as not writable before any update, in Get Tables, Get Fields and OpenAPI [M24]", async () => {
    assertEquals(await isWritable("old_orders"), false);
    assertEquals(await isWritable("new_orders"), true);
    for (const kind of ["single", "bulk"]) {
      const { status } = await update("old_orders", 1, "b", kind);
      assertEquals(status, 403);
    }
    const { status, body } = await update("new_orders", 1, "b");
    assertEquals([status, body["updated"]], [200, 1]);
  });

  it("are writable where some of their partitions are, which the others do not change [M24]", async () => {
    assertEquals((await update("half_orders", 5, "b")).status, 200);
    const { status, body } = await update("half_orders", 1, "b");
    assertEquals([status, body["error"]], REFUSAL);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    assertEquals(await isWritable("half_orders"), true);
  });

  it("are probed without leaving a table, a lock or a row [M24]", async () => {
    const rows = await service.database.admin`
      select relname from pg_class where relname = 'rowgate_engine'
      union all select code from old_orders where code <> 'a'`;
    assertEquals([...rows], []);
  });

  it("are recognised by an update where the role may not probe them, until they change [M31]", async () => {
    const { admin } = service.database;
    const [{ name } = {}] = await admin`select quote_ident(current_database()) as name`;
    await admin.unsafe(`revoke temporary on database ${name} from rowgate_app, public;
      create access method unsure type table handler heap_tableam_handler;
      create table late_orders (tenant_id int4 not null, id int4 primary key, code text) using unsure;
      insert into late_orders values (1, 1, 'a'), (1, 2, 'a');
      create function refuse() returns trigger language plpgsql as
        $$ begin perform raise_in_c('0A000'); end $$;
      create trigger refuse before update on late_orders for each row
        when (old.id = 2) execute function refuse();
      grant select, update on late_orders to rowgate_app`);
    await waitUntil(async () => {
      await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
      return (await service.catalogue.current()).tables.has("late_orders");
    });
    // What a trigger refuses is about this row.
    const single = await update("late_orders", 2, "b");
    assertEquals([single.status, single.body["error"]], REFUSAL);
    assertEquals(await isWritable("late_orders"), true);
    assertEquals((await update("late_orders", 1, "b")).status, 200);

    const check = `check (date_trunc('timezone', now()::timestamp) is null) not valid`;
    await admin.unsafe(`alter table late_orders add constraint refuse ${check}`);
    const refused = await update("late_orders", 1, "c");
    assertEquals([refused.status, refused.body["error"]], REFUSAL);
    await waitUntil(async () => !await isListed("late_orders"));
    assertEquals(await isWritable("late_orders"), false);
    assertEquals((await update("late_orders", 1, "c")).status, 403);

    await admin`alter table late_orders drop constraint refuse`;
    await admin`comment on table late_orders is 'as good as new'`;
    await waitUntil(async () => {
      await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
      return await isListed("late_orders");
    });
    assertEquals((await update("late_orders", 1, "c")).status, 200);
  });
});

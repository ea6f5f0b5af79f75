import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "../../../src/config/config.ts";
import { planConnection, planSettings, planStandbys } from "../../../src/postgres/connection.ts";

const CONFIG = {
  databaseUrl: "postgres://u@h/d",
  prepare: true,
  statementTimeoutMs: 1234,
  lockTimeoutMs: 567,
} as Config;

describe("planConnection", () => {
  const plans: readonly (readonly [string, Record<string, unknown>])[] = [
    ["postgres://u:p@h:6432/d", {
      addresses: [{ host: "h", port: 6432 }],
      user: "u",
      password: "p",
      database: "d",
    }],
    ["postgresql://u@h/d", {
      addresses: [{ host: "h", port: 5432 }],
      user: "u",
      password: undefined,
    }],
    ["postgres://u:p%40%2F%3A@h/d", { password: "p@/:" }],
    ["postgres://u:p@ss@h/d", { password: "p@ss", addresses: [{ host: "h", port: 5432 }] }],
    ["postgres://u:100%@h/d", { password: "100%" }],
    ["postgres://u@h", { database: undefined }],
    ["postgres://u@[::1]:7000/d", { addresses: [{ host: "::1", port: 7000 }] }],
    ["postgres://u@a,b:6000/d?target_session_attrs=read-write", {
      addresses: [{ host: "a", port: 5432 }, { host: "b", port: 6000 }],
      role: "read-write",
    }],
    ["postgres:///d?host=/run/pg&port=6000", { addresses: [{ path: "/run/pg/.s.PGSQL.6000" }] }],
    ["postgres://%2Frun%2Fpg:6000/d", { addresses: [{ path: "/run/pg/.s.PGSQL.6000" }] }],
    ["postgres://u@h/d?sslmode=disable", { encryption: { mode: "off" } }],
    ["postgres://u@h/d", { role: "any", encryption: { mode: "prefer" } }],
    ["postgres://u@h/d?sslmode=require", { encryption: { mode: "require" } }],
    ["postgres://u@h/d?sslmode=require&sslrootcert=/ca.pem", {
      encryption: { mode: "verify", rootFile: "/ca.pem" },
    }],
    ["postgres://u@h/d?sslmode=verify-ca", { encryption: { mode: "verify" } }],
    ["postgres://u@h/d?sslmode=verify-full", { encryption: { mode: "verify" } }],
    ["postgres://u@h/d?sslmode=verify-full&sslrootcert=system", { encryption: { mode: "verify" } }],
  ];
  for (const [url, expected] of plans) {
    it(`understands ${url} as libpq does`, () => {
      const plan = planConnection(url) as unknown as Record<string, unknown>;
      for (const [name, value] of Object.entries(expected)) assertEquals(plan[name], value, name);
    });
  }

  it("leaves out parameters that other clients put into the URL", () => {
    const plan = planConnection(
      "postgres://u@h/d?schema=public&pgbouncer=true&statement_timeout=0",
    );
    assertEquals(JSON.stringify(plan).includes("pgbouncer"), false);
    assertEquals("connection" in plan, false);
  });

  it("rejects what is no URL of a Postgres, without showing it", () => {
    for (const url of ["mysql://u:hunter2@h/d", "hunter2", "", "postgres:hunter2"]) {
      const error = assertThrows(() => planConnection(url), Error);
      assertEquals(error.message.includes("hunter2"), false);
    }
  });

  it("rejects an sslmode or a role it does not know rather than connect in another way", () => {
    assertThrows(() => planConnection("postgres://u@h/d?sslmode=verify_full"), Error, "sslmode");
    assertThrows(
      () => planConnection("postgres://u@a,b/d?target_session_attrs=readwrite"),
      Error,
      "target_session_attrs",
    );
  });
});

describe("planStandbys", () => {
  const of = (role: string) => planStandbys(`postgres://u:hunter2@a,b/d${role}`);

  it("takes the hosts, whatever kind of standby is asked for [M27]", () => {
    const hosts = ["a", "b"].map((host) => ({ host, port: 5432 }));
    for (const role of ["any", "standby", "prefer-standby", "read-only"]) {
      assertEquals(of(`?target_session_attrs=${role}`), hosts, role);
    }
    assertEquals(of(""), hosts);
  });

  it("rejects a URL that asks for a primary, without showing it [M27]", () => {
    for (const role of ["primary", "read-write"]) {
      const { message } = assertThrows(() => of(`?target_session_attrs=${role}`), Error);
      assertEquals(
        message,
        `DATABASE_READ_URL: target_session_attrs=${role} asks for a primary, expected standby, ` +
          "prefer-standby, read-only or any; DATABASE_URL names the primary",
      );
    }
    assertThrows(() => of("?target_session_attrs=replica"), Error, "DATABASE_READ_URL: target_");
  });
});

describe("planSettings", () => {
  it("pins what responses depend on, whatever the role has set [P24]", () => {
    const settings = planSettings(CONFIG, { checkClient: true });
    assertEquals("TimeZone" in settings, false, "set when the session is open [R50]");
    assertEquals(settings.IntervalStyle, "iso_8601");
    assertEquals(settings.extra_float_digits, "1");
    assertEquals(settings.bytea_output, "hex");
    assertEquals(settings.statement_timeout, "1234");
    assertEquals(settings.lock_timeout, "567");
    assertEquals("search_path" in settings, false);
  });

  it("asks a pooler for nothing that it does not track [R6]", () => {
    const settings = planSettings({ ...CONFIG, prepare: false }, { checkClient: true });
    assertEquals(Object.keys(settings).sort(), [
      "DateStyle",
      "TimeZone",
      "application_name",
    ]);
  });

  it("keeps statements to one process, unless the operator's options say otherwise [P34]", () => {
    const name = "max_parallel_workers_per_gather";
    assertEquals(planSettings(CONFIG, { checkClient: true })[name], "0");
    const databaseUrl = `postgres://u@h/d?options=-c%20${name}%3D2`;
    const settings = planSettings({ ...CONFIG, databaseUrl }, { checkClient: true });
    assertEquals([settings.options, name in settings], [`-c ${name}=2`, false]);
  });

  it("keeps the operator's options, under ours", () => {
    const databaseUrl = "postgres://u@h/d?options=-c%20search_path%3Dapp";
    const settings = planSettings({ ...CONFIG, databaseUrl }, { checkClient: false });
    assertEquals(settings.options, "-c search_path=app");
    assertEquals("client_connection_check_interval" in settings, false);
  });
});

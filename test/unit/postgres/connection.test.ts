import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Config } from "../../../src/server/config/config.ts";
import {
  planConnection,
  planSettings,
  planStandbys,
} from "../../../src/database/postgres/connection.ts";

const CONFIG = {
  prepare: true,
  statementTimeoutMs: 1234,
  lockTimeoutMs: 567,
} as Config;
const PLAN = planConnection("postgres://u@h/d");

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
    ["postgres://u@a,b/d?port=6000,7000", {
      addresses: [{ host: "a", port: 6000 }, { host: "b", port: 7000 }],
    }],
    ["postgres://u@a,b/d?hostaddr=10.0.0.1,10.0.0.2", {
      addresses: [
        { host: "a", port: 5432, hostaddr: "10.0.0.1" },
        { host: "b", port: 5432, hostaddr: "10.0.0.2" },
      ],
    }],
    ["postgres:///d?hostaddr=10.0.0.1", {
      addresses: [{ host: "10.0.0.1", port: 5432, hostaddr: "10.0.0.1" }],
    }],
    ["postgres://u@h/d?password=a+b&password=c+d", { password: "c+d" }],
    ["postgres://u@h/d", { applicationName: "rowgate", connectMs: undefined, options: undefined }],
    ["postgres://u@h/d?fallback_application_name=sync", { applicationName: "sync" }],
    ["postgres://u@h/d?application_name=crm&connect_timeout=1", {
      applicationName: "crm",
      connectMs: 2000,
    }],
    ["postgres://u@h/d?connect_timeout=0", { connectMs: undefined }],
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

  it("rejects a parameter of libpq that it does not obey, naming it without its value [R65]", () => {
    const rejected = [
      ...["channel_binding=require", "client_encoding=latin1", "gssdelegation=1"],
      ...["gssencmode=require", "gsslib=gssapi", "keepalives=0", "keepalives_count=3"],
      ...["keepalives_idle=60", "keepalives_interval=5", "krbsrvname=pg"],
      ...["load_balance_hosts=random", "max_protocol_version=9", "min_protocol_version=3.2"],
      ...["oauth_client_id=x", "oauth_client_secret=x", "oauth_issuer=x", "oauth_scope=x"],
      ...["passfile=/home/app/.pgpass", "replication=database", "require_auth=scram-sha-256"],
      ...["requirepeer=postgres", "requiressl=1", "scram_client_key=x", "scram_server_key=x"],
      ...["service=shop", "servicefile=/etc/pg_service.conf", "ssl_max_protocol_version=TLSv1.2"],
      ...["ssl_min_protocol_version=TLSv1.3", "sslcert=/c.pem", "sslcertmode=require"],
      ...["sslcompression=1", "sslcrl=/crl.pem", "sslcrldir=/crl", "sslkey=/k.pem"],
      ...["sslkeylogfile=/k", "sslnegotiation=direct", "sslpassword=hunter2", "sslsni=0"],
      ...["tcp_user_timeout=1000"],
    ];
    for (const item of rejected) {
      const [name, value] = item.split("=");
      const { message } = assertThrows(() => planConnection(`postgres://u@h/d?${item}`), Error);
      assertEquals(message.includes(name!) && message.startsWith("DATABASE_URL: "), true, message);
      const shown = message.replaceAll(name!, "").split(";")[0]!;
      assertEquals(value!.length > 3 && shown.includes(value!), false, message);
    }
  });

  it("accepts a value of libpq's parameters that describes what it does anyway [R65]", () => {
    const accepted = [
      ...["channel_binding=prefer", "client_encoding=UTF8", "gssencmode=disable", "keepalives=1"],
      ...[
        "load_balance_hosts=disable",
        "ssl_min_protocol_version=TLSv1.2",
        "sslnegotiation=postgres",
      ],
      ...["sslcertmode=disable", "sslcompression=0", "sslsni=1", "replication=off"],
    ];
    const plan = planConnection("postgres://u@h/d");
    assertEquals(planConnection(`postgres://u@h/d?${accepted.join("&")}`), plan);
  });

  it("rejects a parameter that no client knows, and an incomplete escape [R65]", () => {
    for (
      const item of [
        "sslmod=require",
        "ssl_mode=require",
        "SSLMODE=require",
        "options=%4",
        "a%00=1",
      ]
    ) {
      assertThrows(() => planConnection(`postgres://u@h/d?${item}`), Error, "DATABASE_URL: ");
    }
  });

  it("rejects ports and lists that do not fit the hosts [R65]", () => {
    const rejected = [
      ...["u@h:0/d", "u@h:65536/d", "u@a,b/d?port=1,2,3", "u@h/d?port=x", "u@h/d?port=70000"],
      ...["u@a,b/d?hostaddr=10.0.0.1", "u@h/d?connect_timeout=soon"],
    ];
    for (const rest of rejected) {
      assertThrows(() => planConnection(`postgres://${rest}`), Error, "DATABASE_URL: ");
    }
  });

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
    const settings = planSettings(CONFIG, { plan: PLAN, checkClient: true });
    assertEquals("TimeZone" in settings, false, "set when the session is open [R50]");
    assertEquals(settings.IntervalStyle, "iso_8601");
    assertEquals(settings.extra_float_digits, "1");
    assertEquals(settings.bytea_output, "hex");
    assertEquals(settings.statement_timeout, "1234");
    assertEquals(settings.lock_timeout, "567");
    assertEquals("search_path" in settings, false);
  });

  it("asks a pooler for nothing that it does not track [R6]", () => {
    const settings = planSettings({ ...CONFIG, prepare: false }, { plan: PLAN, checkClient: true });
    assertEquals(Object.keys(settings).sort(), [
      "DateStyle",
      "TimeZone",
      "application_name",
    ]);
  });

  it("keeps statements to one process, unless the operator's options say otherwise [P34]", () => {
    const name = "max_parallel_workers_per_gather";
    assertEquals(planSettings(CONFIG, { plan: PLAN, checkClient: true })[name], "0");
    const plan = planConnection(`postgres://u@h/d?options=-c%20${name}%3D2`);
    const settings = planSettings(CONFIG, { plan, checkClient: true });
    assertEquals([settings.options, name in settings], [`-c ${name}=2`, false]);
  });

  it("keeps the operator's options, under ours", () => {
    const plan = planConnection("postgres://u@h/d?options=-c%20search_path%3Dapp");
    const settings = planSettings(CONFIG, { plan, checkClient: false });
    assertEquals(settings.options, "-c search_path=app");
    const pooled = planSettings(CONFIG, { plan, checkClient: false, pooled: true });
    assertEquals(pooled.options, "-c search_path=app", "a pooler obeys or refuses them");
    assertEquals("client_connection_check_interval" in settings, false);
  });
});

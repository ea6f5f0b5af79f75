// Tests have no container engine: this checks compose.yaml against the parts of the Compose Specification that it
// uses, and against its own promises. image.test.ts runs its scripts.
import { assert, assertEquals } from "@std/assert";
import { before, describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { SETTINGS } from "../../src/server/config/settings.ts";

const VARIABLES = new Set(Object.values(SETTINGS).map(({ variable }) => variable));

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: Readonly<Record<string, unknown>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
}

interface Compose {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The members of a service that are used here, with their kinds in the specification. */
const MEMBERS: Readonly<Record<keyof Service, "string" | "boolean" | "list" | "map">> = {
  image: "string",
  build: "string",
  command: "list",
  entrypoint: "list",
  environment: "map",
  networks: "list",
  volumes: "list",
  ports: "list",
  healthcheck: "map",
  depends_on: "map",
  read_only: "boolean",
  cap_drop: "list",
  security_opt: "list",
  restart: "string",
  stop_grace_period: "string",
  profiles: "list",
};

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
const VARIABLE = /\$\{([A-Z_]+)(:\?[^}]*)?\}/g;

describe("compose.yaml", () => {
  let text: string;
  let compose: Compose;
  let services: readonly [name: string, service: Service][];
  let ours: readonly [name: string, service: Service][];

  before(async () => {
    text = await read("compose.yaml");
    const cwd = fileURLToPath(new URL("../packages", import.meta.url));
    const { stdout, stderr } = spawnSync("node", ["read_yaml.mjs"], { cwd, input: text });
    assertEquals(stderr.toString(), "");
    compose = JSON.parse(stdout.toString());
    services = Object.entries(compose.services);
    ours = services.filter(([, { image }]) => image.startsWith("rowgate:"));
  });

  it("uses members of the specification, each of its kind", () => {
    assertEquals(Object.keys(compose), ["name", "services", "networks", "volumes"]);
    for (const [name, service] of services) {
      for (const [member, value] of Object.entries(service)) {
        const kind = Array.isArray(value)
          ? "list"
          : typeof value === "object"
          ? "map"
          : typeof value;
        assertEquals(kind, MEMBERS[member as keyof Service], `${name}.${member}`);
      }
      assert(/^(no|always|on-failure|unless-stopped)$/.test(service.restart ?? "no"), name);
    }
  });

  it("uses the services, networks and volumes that it defines, and all of them", () => {
    const conditions = ["service_started", "service_healthy", "service_completed_successfully"];
    const networks = new Set<string>();
    const volumes = new Set<string>();
    for (const [name, service] of services) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        assert(conditions.includes(condition), `${name}: ${condition}`);
        const needed = compose.services[other];
        assert(needed !== undefined, `${name} depends on ${other}`);
        if (condition === "service_healthy") assert(needed.healthcheck !== undefined, other);
      }
      service.networks.forEach((network) => networks.add(network));
      for (const volume of service.volumes ?? []) {
        if (!volume.startsWith("./")) volumes.add(volume.split(":")[0]!);
      }
    }
    assertEquals([...networks].sort(), Object.keys(compose.networks).sort());
    assertEquals([...volumes].sort(), Object.keys(compose.volumes).sort());
  });

  it("starts the database first and the server last", () => {
    const order: string[] = [];
    for (let name: string | undefined = "rowgate"; name !== undefined;) {
      order.unshift(name);
      assert(order.length <= services.length, "a circle");
      [name] = Object.keys(compose.services[name]!.depends_on ?? {});
    }
    assertEquals(order, ["postgres", "setup", "grants", "rowgate"]);
  });

  it("asks for each password that it needs, and contains none", () => {
    const variables = [...text.matchAll(VARIABLE)].map(([, name, required]) => ({
      name,
      required,
    }));
    for (const { name } of variables) {
      assert(variables.some((other) => other.name === name && other.required), name);
      assert(text.split("\nname:")[0]!.includes(name!), `${name} is not explained`);
    }
    for (const [name, { environment }] of services) {
      for (const [key, value] of Object.entries(environment)) {
        if (/PASSWORD/.test(key)) assert(/^\$\{[^}]+\}$/.test(value), `${name}.${key}`);
        if (key === "DATABASE_URL") assert(/:\$\{[A-Z_]+\}@postgres\/shop$/.test(value), name);
      }
    }
  });

  it("gives Rowgate no writable file system and no capability, reachable from this machine only", () => {
    assertEquals(ours.map(([name]) => name), ["setup", "rowgate", "token"]);
    for (const [name, service] of ours) {
      assertEquals(service.image, `rowgate:${manifest.version}`);
      assertEquals(service.read_only, true, name);
      assertEquals(service.cap_drop, ["ALL"], name);
      assertEquals(service.security_opt, ["no-new-privileges:true"], name);
      const settings = Object.keys(service.environment);
      assertEquals(settings.filter((key) => !VARIABLES.has(key)), [], name);
    }
    const open = services.filter(([, { ports }]) => ports !== undefined);
    assertEquals(open.map(([name, { ports }]) => [name, ports]), [
      ["rowgate", ["127.0.0.1:8080:8080"]],
    ]);
    assertEquals(compose.networks.database, { internal: true });
    assertEquals(compose.services.postgres!.networks, ["database"]);
    const grace = Number(/^(\d+)s$/.exec(compose.services.rowgate!.stop_grace_period!)?.[1]);
    assert(grace * 1000 > SETTINGS.shutdownMs.default);
  });

  it("calls existing commands, the server with the role of least rights", () => {
    assertEquals(compose.services.setup!.command, ["setup"]);
    assertEquals(compose.services.token!.entrypoint, ["/usr/local/bin/rowgate", "token"]);
    const users = ours.map(([, { environment }]) => new URL(environment.DATABASE_URL!).username);
    assertEquals(users, ["owner", "rowgate_app", "owner"]);
  });
});

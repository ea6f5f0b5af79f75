import { spawn } from "node:child_process";
import { access, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findPort } from "./find_port.ts";
import { waitUntil } from "./wait_until.ts";

/** An haproxy in front of several servers. */
export interface LoadBalancer {
  readonly address: string;
  /** Reports whether it sends requests to the server at this place. */
  readonly isUp: (place: number) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** Where packages put it. */
const FOLDERS = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/** Returns the program to test with, where it is installed. */
export async function findLoadBalancer(): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = join(folder, "haproxy");
    if (await access(file).then(() => true, () => false)) return file;
  }
  return undefined;
}

/**
 * Starts an haproxy in front of servers on loopback ports. Besides the timeouts, which it has no defaults
 * for, it gets one setting: to check `/readyz`; and what is given.
 */
export async function startLoadBalancer(
  program: string,
  ports: readonly number[],
  more = "",
): Promise<LoadBalancer> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-balancer-"));
  const [port, statistics] = [await findPort(), await findPort()];
  const settings = join(folder, "haproxy.cfg");
  await writeFile(
    settings,
    `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  ${more}
frontend statistics
  bind 127.0.0.1:${statistics}
  stats enable
  stats uri /
frontend rows
  bind 127.0.0.1:${port}
  default_backend rowgate
backend rowgate
  option httpchk GET /readyz
${ports.map((port, place) => `  server r${place} 127.0.0.1:${port} check`).join("\n")}
`,
  );
  await chmod(folder, 0o755);
  const child = spawn(program, ["-db", "-f", settings], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => output += chunk);
  }
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.once("exit", () => child.kill("SIGKILL"));

  async function isUp(place: number): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${statistics}/;csv`).catch(() => undefined);
    const line = (await response?.text())?.split("\n")
      .find((line) => line.startsWith(`rowgate,r${place},`));
    return line?.split(",")[17] === "UP";
  }

  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended: ${output}`);
    return await isUp(0);
  });
  return {
    address: `http://127.0.0.1:${port}`,
    isUp,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { spawn } from "node:child_process";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPort } from "./find_port.ts";
import { waitUntil } from "./wait_until.ts";

/** An nginx in front of a service. */
export interface Nginx {
  readonly address: string;
  readonly stop: () => Promise<void>;
}

/** Where packages put it. */
const FOLDERS = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/** Returns the installed program. */
export async function findNginx(): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = join(folder, "nginx");
    if (await access(file).then(() => true, () => false)) return file;
  }
  return undefined;
}

/** Starts nginx with what a page shows for its `http` part, which names port 8000 of the service and listens on 8080. */
export async function startNginx(program: string, address: string, page: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-nginx-"));
  const port = await findPort();
  const own = page.replace("127.0.0.1:8000", new URL(address).host).replace(
    "listen 8080",
    `listen 127.0.0.1:${port}`,
  );
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/${name};`
  );
  await mkdir(join(folder, "logs"));
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/logs/error.log;
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
${own}
}
`,
  );
  const child = spawn(program, ["-p", folder, "-c", file], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    return await fetch(`${url}/livez`).then(({ status, body }) => {
      body?.cancel();
      return status === 200;
    }, () => false);
  });
  return {
    address: url,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

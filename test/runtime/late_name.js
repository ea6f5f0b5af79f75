// Loaded before the service on Node: names in late.invalid do not resolve until the file of LATE_NAME
// is there, as when a name server is unavailable (EAI_AGAIN), or a name is not made yet (ENOTFOUND).
import dns from "node:dns";
import { existsSync } from "node:fs";

const { lookup } = dns;
let asked = 0;
dns.lookup = (host, ...parameters) => {
  if (!host.endsWith(".late.invalid")) return lookup(host, ...parameters);
  if (existsSync(process.env.LATE_NAME)) return lookup("127.0.0.1", ...parameters);
  const callback = parameters.at(-1);
  const code = asked++ % 2 === 0 ? "EAI_AGAIN" : "ENOTFOUND";
  setTimeout(() => callback(Object.assign(new Error(`getaddrinfo ${host}`), { code })), 5);
};

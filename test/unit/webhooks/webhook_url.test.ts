import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readConfig } from "../../../src/server/config/config.ts";
import { findUrlProblem } from "../../../src/feeds/webhooks/webhook_url.ts";

function rulesOf(hosts: string) {
  const { config, problems } = readConfig({ ROWGATE_WEBHOOK_HOSTS: hosts });
  if (config === undefined) throw new Error(problems.join("\n"));
  return config.webhookHosts;
}

const RULES = rulesOf(
  "hooks.zapier.com, *.n8n.cloud,hooks.example.org:8443,bücher.example,Receiver",
);

const isAllowed = (url: string) => findUrlProblem(url, RULES) === undefined;

describe("the address of a webhook", () => {
  it("is one of a host that the operator named [WH20]", () => {
    for (
      const url of [
        "https://hooks.zapier.com/hooks/catch/1/2/",
        "https://HOOKS.zapier.com/x?y=1&z=%2F",
        "https://hooks.zapier.com",
        "https://hooks.zapier.com?x=1",
        "https://hooks.zapier.com:443/x",
        "https://acme.app.n8n.cloud/webhook/1",
        "https://acme.n8n.cloud/",
        "https://hooks.example.org:8443/",
        "https://xn--bcher-kva.example/",
        "https://receiver/x",
      ]
    ) {
      assertEquals(findUrlProblem(url, RULES), undefined, url);
    }
  });

  it("is of no other host, and of no other port [WH20] [SF1]", () => {
    for (
      const url of [
        "https://zapier.com/",
        "https://x.hooks.zapier.com/",
        "https://hooks.zapier.com.evil.example/",
        "https://evilhooks.zapier.com/",
        "https://n8n.cloud/",
        "https://evil-n8n.cloud/",
        "https://xn8n.cloud/",
        "https://hooks.zapier.com:8443/",
        "https://hooks.zapier.com:22/",
        "https://hooks.example.org/",
        "https://localhost/",
        "https://rowgate.internal/",
      ]
    ) {
      assertMatch(findUrlProblem(url, RULES) ?? "allowed", /its host may not be called/, url);
    }
  });

  it("has no user name, address, trick of spelling, or other scheme [WH21] [SF2]", () => {
    for (
      const url of [
        "http://hooks.zapier.com/",
        "ftp://hooks.zapier.com/",
        "file:///etc/passwd",
        "hooks.zapier.com/x",
        "//hooks.zapier.com/x",
        "https:hooks.zapier.com/x",
        "https:/hooks.zapier.com/x",
        "https://user@hooks.zapier.com/",
        "https://hooks.zapier.com@evil.example/",
        "https://hooks.zapier.com:x@evil.example/",
        "https://evil.example\\@hooks.zapier.com/",
        "https://hooks.zapier.com\\.evil.example/",
        "https://evil.example#@hooks.zapier.com/",
        "https://hooks.zapier.com#fragment",
        "https://hooks.zapier.com/#x",
        "https://hooks.zapier.com./",
        "https://.hooks.zapier.com/",
        "https://a..n8n.cloud/",
        "https://-a.n8n.cloud/",
        "https://hooks%2ezapier.com/",
        "https://hooks。zapier。com/",
        "https://ｈooks.zapier.com/",
        "https://hooks.zapier.com\u0000.evil.example/",
        "https://hooks.za\tpier.com/",
        " https://hooks.zapier.com/",
        "https://hooks.zapier.com/ x",
        "https://hooks.zapier.com/é",
        "https://hooks.zapier.com/\nHost: evil",
        "https://hooks.zapier.com:443:443/",
        "https://hooks.zapier.com:0443x/",
        "https://hooks.zapier.com:99999/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0x7f000001/",
        "https://017700000001/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://1.1/",
        "",
        "https://",
      ]
    ) {
      assertMatch(findUrlProblem(url, RULES) ?? "allowed", /it cannot be called/, url);
    }
    assertMatch(findUrlProblem(`https://hooks.zapier.com/${"x".repeat(2000)}`, RULES)!, /too long/);
  });

  it("is read by the URL parser as it was checked, for any text [WH21] [SF2]", () => {
    const parts = [
      "https://",
      "hooks.zapier.com",
      "@",
      "\\",
      "/",
      ":",
      "#",
      "?",
      ".",
      "evil.example",
    ]
      .concat(["[::1]", "127.0.0.1", "%00", "%2e", "\t", " ", "xn--", "é", "443", "//"]);
    let state = 42;
    const draw = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    let allowed = 0;
    for (let run = 0; run < 20_000; run++) {
      const length = 1 + Math.floor(draw() * 5);
      const tail = Array.from({ length }, () => parts[Math.floor(draw() * parts.length)]).join("");
      const url = draw() < 0.5 ? `https://hooks.zapier.com${tail}` : `https://${tail}`;
      if (!isAllowed(url)) continue;
      allowed++;
      const { hostname, protocol, username, password, hash, port } = new URL(url);
      const seen = [protocol, hostname, port, username, password, hash];
      assertEquals(seen, ["https:", "hooks.zapier.com", "", "", "", ""], url);
    }
    if (allowed < 100) throw new Error(`only ${allowed} were allowed`);
  });
});

describe("ROWGATE_WEBHOOK_HOSTS", () => {
  it("rejects what is no host, and every address [WH20]", () => {
    for (
      const hosts of [
        "*",
        "*.com",
        "hooks.*.com",
        "a*.example.org",
        "https://hooks.zapier.com",
        "hooks.zapier.com/x",
        "user@hooks.zapier.com",
        "hooks.zapier.com:0",
        "hooks.zapier.com:65536",
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "[::1]",
        "hooks.zapier.com.",
        "hooks.zapier.com,,x.example",
        "-x.example",
      ]
    ) {
      const { problems } = readConfig({ ROWGATE_WEBHOOK_HOSTS: hosts });
      assertMatch(problems?.join() ?? "allowed", /^ROWGATE_WEBHOOK_HOSTS: .*expected names/, hosts);
    }
  });

  it("is none by default [WH3]", () => {
    assertEquals(readConfig({}).config?.webhookHosts, []);
  });
});

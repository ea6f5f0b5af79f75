import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { before, describe, it } from "@std/testing/bdd";
import { mintSecret, mintWebhookId, signMessage } from "../../../src/feeds/webhooks/secret.ts";
import { loadStandardWebhooks, type Verifier } from "../../support/standard_webhooks.ts";

const BODY = '{"type":"rowgate.changes","data":{"note":"é\\u0000 1.50 9007199254740993"}}';

describe("the signature of a message", () => {
  let Webhook: Verifier;
  before(() => {
    Webhook = loadStandardWebhooks();
  });

  it("has a secret of 256 bits, and ids of 16 letters and digits [WH10]", () => {
    const secrets = Array.from({ length: 50 }, mintSecret);
    for (const secret of secrets) {
      assertMatch(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assertEquals(atob(secret.slice("whsec_".length)).length, 32);
    }
    assertEquals(new Set(secrets).size, 50);
    const ids = Array.from({ length: 1000 }, () => mintWebhookId("msg"));
    for (const id of ids) assertMatch(id, /^msg_[0-9A-Za-z]{16}$/);
    assertEquals(new Set(ids).size, 1000);
    // Each of 62 letters is missing in 16,000 with a probability of 1e-113.
    assertEquals(new Set(ids.join("").replaceAll("msg_", "")).size, 62);
  });

  it("is accepted by the package standardwebhooks, and no other body, id or secret is [WH11]", async () => {
    const secret = mintSecret();
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = { ...await signMessage(secret, { id: "msg_1", timestamp, body: BODY }) };
    assertEquals(new Webhook(secret).verify(BODY, headers), JSON.parse(BODY));
    assertThrows(() => new Webhook(secret).verify(`${BODY} `, headers));
    assertThrows(() => new Webhook(secret).verify(BODY, { ...headers, "webhook-id": "msg_2" }));
    assertThrows(() => new Webhook(mintSecret()).verify(BODY, headers));
  });

  it("is signed again for each repetition, because that package rejects an old signature [WH11]", async () => {
    const secret = mintSecret();
    const timestamp = Math.floor(Date.now() / 1000) - 3600;
    const headers = { ...await signMessage(secret, { id: "msg_1", timestamp, body: BODY }) };
    assert(headers["webhook-signature"]!.startsWith("v1,"));
    assertThrows(() => new Webhook(secret).verify(BODY, headers));
  });
});

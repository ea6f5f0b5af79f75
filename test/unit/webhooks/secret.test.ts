import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { signMessage } from "../../../src/feeds/webhooks/secret.ts";

describe("signMessage", () => {
  // The example of Standard Webhooks' own libraries; theirs verifies others in test/integration/webhooks.
  it("signs id, time and body by HMAC-SHA256 [WH11]", async () => {
    const message = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    assertEquals(await signMessage("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", message), {
      "webhook-id": message.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });
});

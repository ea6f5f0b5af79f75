import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { networkOf } from "../../../src/http/network.ts";

describe("networkOf", () => {
  for (
    const [address, network] of [
      ["192.0.2.7", "192.0.2.7"],
      ["::ffff:192.0.2.7", "192.0.2.7"],
      ["::FFFF:192.0.2.7", "192.0.2.7"],
      ["::1", "0:0:0:0::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001:DB8:0000:0000:ffff::9", "2001:db8:0:0::/64"],
      ["2001:db8:0:1::", "2001:db8:0:1::/64"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["", ""],
    ] as const
  ) {
    it(`puts ${JSON.stringify(address)} into ${network}`, () => {
      assertEquals(networkOf(address), network);
    });
  }
});

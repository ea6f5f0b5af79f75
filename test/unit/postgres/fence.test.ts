import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openFence } from "../../../src/database/postgres/fence.ts";

const PRIMARY = { system: "7", timeline: 3 };

describe("openFence", () => {
  function open() {
    let newer = 0;
    const observed: string[] = [];
    const fence = openFence({
      observe: ({ kind }) => observed.push(kind),
      onNewTimeline: () => newer++,
    });
    return { fence, observed, newer: () => newer };
  }

  it("takes servers of one database, and older sessions are given up after a promotion [M4]", () => {
    const { fence, observed, newer } = open();
    assertEquals(fence.timeline(), undefined);
    for (const server of [PRIMARY, PRIMARY, { system: "7", timeline: undefined }]) {
      assertEquals(fence.refuse(server), undefined);
    }
    assertEquals([newer(), fence.timeline()], [0, 3]);
    assertEquals(fence.refuse({ ...PRIMARY, timeline: 5 }), undefined);
    assertEquals([newer(), fence.timeline(), observed], [1, 5, []]);
    assertEquals(fence.refuse(PRIMARY), "OLD_TIMELINE");
    assertEquals(fence.refuse({ system: undefined, timeline: 4 }), "OLD_TIMELINE");
    assertEquals([newer(), fence.timeline()], [1, 5]);
    assertEquals(observed, ["warning", "fault", "warning", "fault"]);
  });

  it("refuses another database, also its standbys [M5]", () => {
    const { fence, observed } = open();
    assertEquals(fence.refuse({ system: undefined, timeline: undefined }), undefined);
    assertEquals(fence.refuse(PRIMARY), undefined);
    assertEquals(fence.refuse({ system: "8", timeline: 9 }), "OTHER_SYSTEM");
    assertEquals(fence.refuse({ system: "8", timeline: undefined }), "OTHER_SYSTEM");
    assertEquals(fence.timeline(), 3);
    assertEquals(observed, ["warning", "fault", "warning", "fault"]);
  });

  it("learns from all servers at once, and then refuses the old primary [M32]", () => {
    const { fence, newer } = open();
    const old = { system: "7", timeline: 1 };
    const standby = { system: "7", timeline: undefined, checkpoint: 2 };
    const stranger = { system: "8", timeline: 9 };
    assertEquals(fence.learn([old, PRIMARY, standby, stranger]), [PRIMARY]);
    assertEquals([fence.timeline(), newer()], [3, 0]);
    assertEquals(fence.refuse(old), "OLD_TIMELINE");
    assertEquals(fence.refuse(stranger), "OTHER_SYSTEM");
    assertEquals(fence.refuse(PRIMARY), undefined);
  });

  it("learns from a standby that its primary was replaced [M32]", () => {
    const { fence } = open();
    const standby = { system: "7", timeline: undefined, checkpoint: 4 };
    assertEquals(fence.learn([PRIMARY, standby]), []);
    assertEquals(fence.refuse(PRIMARY), "OLD_TIMELINE");
  });
});

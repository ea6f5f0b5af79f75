import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  CHUNK_BYTES,
  openByteWriter,
  reserve,
  reuseBytes,
  takeBytes,
  writeBytes,
} from "../../../src/records/byte_writer.ts";

describe("the memory of a writer", () => {
  const print = (text: string) => new TextEncoder().encode(text);

  it("is used again once it was given back, and not before [EX25]", () => {
    const writer = openByteWriter();
    writeBytes(writer, print("first"));
    const first = takeBytes(writer)!;
    writeBytes(writer, print("second"));
    assertEquals(first, print("first"));
    reuseBytes(writer, first);
    const second = takeBytes(writer)!;
    assert(second.buffer !== first.buffer);
    writeBytes(writer, print("third"));
    const third = takeBytes(writer)!;
    assertStrictEquals(third.buffer, first.buffer);
    assertEquals([second, third], [print("second"), print("third")]);
  });

  it("is not kept where a long row has made it larger [EX25]", () => {
    const writer = openByteWriter();
    reserve(writer, CHUNK_BYTES + 1);
    writeBytes(writer, print("long"));
    const long = takeBytes(writer)!;
    reuseBytes(writer, long);
    takeBytes(writer);
    writeBytes(writer, print("next"));
    takeBytes(writer);
    assert(writer.bytes.buffer !== long.buffer);
    assertEquals(writer.bytes.length, CHUNK_BYTES);
  });
});

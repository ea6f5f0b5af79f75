import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { printExamined } from "../../../src/cli/doctor_command.ts";

describe("printExamined", () => {
  it("prints a fix on several lines, and a name of several lines on one [R31]", () => {
    const finding = {
      id: "name:a\nb",
      level: "error" as const,
      what: "the table a\n\x1b[2Jb",
      why: "because\r",
      fix: "one;\ntwo \x07;",
    };
    assertEquals(
      printExamined({ name: "names", seen: "1\ttable", findings: [finding], accepted: [] }),
      `ERROR   names                     1�table
        ERROR the table a��[2Jb
          because�
            one;
            two �;
          id name:a�b
`,
    );
  });
});

import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { listFunctions } from "../../scripts/checks/functions.ts";

const TEXT = `
export async function readAll(
  from: string,
  { to }: {
    readonly to: string;
  },
): Promise<void> {
  await read(async () => {
    from;
  });
}

class Pool {
  #close(): void {
    if (this.isOpen) {
      end();
    }
  }
}

const late = () => {
  end();
};
`;

describe("the check of long functions", () => {
  it("counts the lines of functions, methods and arrow functions, from their names to their ends", () => {
    const found = listFunctions(TEXT).map(({ name, line, lines }) => [name, line, lines]);
    assertEquals(found, [["readAll", 2, 10], ["#close", 14, 5], ["late", 21, 3]]);
  });
});

/** One instruction of a Dockerfile: `RUN`, and what stands behind it. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** One stage of a Dockerfile. */
export interface Stage {
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Reads a Dockerfile: its stages in order, continued lines joined, comments left out. */
export function readDockerfile(text: string): readonly Stage[] {
  const lines = text.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "").split("\n");
  const stages: { base: string; instructions: Instruction[] }[] = [];
  for (const line of lines.filter((line) => line.trim() !== "")) {
    const [, name = "", text = ""] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === "") throw new Error(`It is no instruction: ${line}`);
    if (name === "FROM") stages.push({ base: text.split(" ")[0]!, instructions: [] });
    else stages.at(-1)!.instructions.push({ name, text });
  }
  return stages;
}

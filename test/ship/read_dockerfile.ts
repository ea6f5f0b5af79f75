/** An instruction of a Dockerfile: its name, such as `RUN`, and its text. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A stage of a Dockerfile. */
export interface Stage {
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Parses a Dockerfile into its stages, with continued lines joined and comments removed. */
export function readDockerfile(text: string): readonly Stage[] {
  const lines = text.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "").split("\n");
  const stages: { base: string; instructions: Instruction[] }[] = [];
  for (const line of lines.filter((line) => line.trim() !== "")) {
    const [, name = "", text = ""] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === "") throw new Error(`Not an instruction: ${line}`);
    if (name === "FROM") stages.push({ base: text.split(" ")[0]!, instructions: [] });
    else stages.at(-1)!.instructions.push({ name, text });
  }
  return stages;
}

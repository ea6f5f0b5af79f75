const SAMPLE = /^([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)+\})? (-?[0-9.e+-]+)$/;
const COMMENT = /^# (HELP|TYPE) ([a-z_]+) (.+)$/;

/** Prometheus text, read: samples by name and labels as they stand there, and the names described. */
export interface ReadMetrics {
  readonly samples: ReadonlyMap<string, number>;
  readonly names: ReadonlySet<string>;
}

/** Reads Prometheus text; a line that is neither comment nor sample is an error. */
export function readMetrics(text: string): ReadMetrics {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const samples = new Map<string, number>();
  const names = new Set<string>();
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const [, , name] = COMMENT.exec(line) ?? [];
    if (name !== undefined) {
      names.add(name);
      continue;
    }
    const sample = SAMPLE.exec(line.replace(/le="\+Inf"/, 'le="Inf"'));
    if (sample === null) throw new Error(`no line of Prometheus: ${line}`);
    const key = sample[1]! + (sample[2] ?? "");
    if (samples.has(key)) throw new Error(`twice: ${key}`);
    samples.set(key, Number(sample[3]));
  }
  return { samples, names };
}

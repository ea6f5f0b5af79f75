/**
 * Computes how many instances, sessions and servers of Postgres a number of requests needs, from the
 * measured costs in docs/performance/results.md:
 *
 *     deno run -A scripts/bench/capacity.ts --runtime=node --mix=Q1:70,Q2:10,Q3:10,U1:10
 *
 * @see docs/operations/capacity.md
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { readFlags } from "./read_flags.ts";

/** CPU that one request takes. */
export interface Cost {
  readonly serviceMicros: number;
  readonly postgresMicros: number;
}

/** What is needed for a rate of requests. */
export interface Need {
  readonly instances: number;
  /** Connections to Postgres, of all instances. */
  readonly sessions: number;
  /** Processors that Postgres keeps busy; twice as many should be there. */
  readonly postgresCores: number;
  readonly servers: number;
}

/** Part of a processor that is planned to be busy: the rest is for bursts and for an instance that is gone. */
const BUSY = 0.5;
/** Processors of one server of Postgres. */
const CORES_OF_SERVER = 16;
/** Between instance and Postgres, there and back. */
const ROUND_TRIP_MICROS = 500;
/** Connections for each that is busy on average, and at least so many for an instance. */
const SPARE = 3;
const LEAST_SESSIONS = 10;
/** One may be gone. */
const LEAST_INSTANCES = 2;

/** Reads the costs of each request of the benchmark, for one runtime at sixteen clients. */
export function readCosts(results: string, runtime: string): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  for (const section of results.split(/^### /m).slice(1)) {
    const id = /^(\w+): /.exec(section)?.[1];
    const row = new RegExp(`^\\| rowgate ${runtime} +\\| 16 .*$`, "m").exec(section)?.[0];
    if (id === undefined || row === undefined) continue;
    const cells = row.split("|").map((cell) => cell.trim());
    costs.set(id, { serviceMicros: Number(cells[9]), postgresMicros: Number(cells[10]) });
  }
  return costs;
}

/** Gives the cost of an average request of a mix: parts by the name of the request. */
export function averageCost(
  costs: ReadonlyMap<string, Cost>,
  mix: ReadonlyMap<string, number>,
): Cost {
  const whole = [...mix.values()].reduce((sum, part) => sum + part, 0);
  const average = (of: keyof Cost) =>
    [...mix].reduce((sum, [id, part]) => {
      const cost = costs.get(id);
      if (cost === undefined) throw new Error(`there is no request ${id} in the results`);
      return sum + cost[of] * part / whole;
    }, 0);
  return {
    serviceMicros: average("serviceMicros"),
    postgresMicros: average("postgresMicros"),
  };
}

/** Computes what a number of requests a minute needs, at its busiest. */
export function computeNeed(requestsPerMinute: number, cost: Cost): Need {
  const rate = requestsPerMinute / 60;
  const serviceCores = rate * cost.serviceMicros / 1e6;
  const instances = Math.max(LEAST_INSTANCES, Math.ceil(serviceCores / BUSY) + 1);
  const postgresCores = rate * cost.postgresMicros / 1e6;
  // A session is busy while its statement runs and travels.
  const busy = rate * (cost.postgresMicros + ROUND_TRIP_MICROS) / 1e6;
  const sessions = Math.max(LEAST_SESSIONS * instances, Math.ceil(SPARE * busy));
  const servers = Math.max(1, Math.ceil(postgresCores / (BUSY * CORES_OF_SERVER)));
  return { instances, sessions, postgresCores, servers };
}

/** Prints the needs as a table. */
export function printNeeds(rates: readonly number[], cost: Cost): string {
  const rows = rates.map((rate) => {
    const { instances, sessions, postgresCores, servers } = computeNeed(rate, cost);
    const cells = [
      rate.toLocaleString("en"),
      Math.ceil(rate / 60).toLocaleString("en"),
      instances,
      sessions,
      postgresCores.toFixed(2),
      servers,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| requests a minute | a second | instances | sessions | busy cores of Postgres | servers |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

if (import.meta.main) {
  const values = readFlags({
    runtime: { type: "string", default: "node" },
    mix: { type: "string", default: "Q1:70,Q2:10,Q3:10,U1:10" },
    rates: { type: "string", default: "1000,100000,10000000" },
  });
  const results = await readFile(
    new URL("../../docs/performance/results.md", import.meta.url),
    "utf8",
  );
  const mix = new Map(
    values.mix.split(",").map((part): [string, number] => {
      const [id = "", share = ""] = part.split(":");
      return [id, Number(share)];
    }),
  );
  const cost = averageCost(readCosts(results, values.runtime), mix);
  const { serviceMicros, postgresMicros } = cost;
  process.stdout.write(
    `${Math.round(serviceMicros)} µs of the service, ${
      Math.round(postgresMicros)
    } µs of Postgres\n`,
  );
  process.stdout.write(printNeeds(values.rates.split(",").map(Number), cost));
}

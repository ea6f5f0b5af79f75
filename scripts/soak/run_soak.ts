import { seedRandom } from "../../src/cli/demonstration/random.ts";
import type { TestService } from "../../test/support/service.ts";
import { type Draw, drawRequest, SOAK_ROWS, type SoakRequest } from "./draw_request.ts";
import { type Sample, takeSample } from "./take_sample.ts";

/** The parameters of a run. */
export interface SoakOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Clients, each with one request after the other. */
  readonly clients?: number;
  /** Requests a second of all clients at most; no limit when undefined. */
  readonly rate?: number;
}

/** The result of a run. */
export interface SoakRun {
  /** Requests by kind and status: `query 200`. */
  readonly responses: ReadonlyMap<string, number>;
  /** Requests without a response after 40 s. */
  readonly hung: number;
  readonly worstMs: number;
  readonly samples: readonly Sample[];
  /** Taken when all clients had disconnected. */
  readonly last: Sample;
}

/** The longest that a request may take: the statement timeout of 30 s, its wait, and a margin. */
const HUNG_MS = 40_000;
const SAMPLES = 80;
const TOKENS = 60;

/** Puts mixed load on a service in a process of its own, and samples that process. */
export async function runSoak(service: TestService, options: SoakOptions): Promise<SoakRun> {
  const { seconds, seed, clients = 12, rate = Infinity } = options;
  await fillDeals(service);
  const tokens = await makeTokens(service);
  const responses = new Map<string, number>();
  const client = Deno.createHttpClient({});
  const end = performance.now() + seconds * 1000;
  let hung = 0;
  let worstMs = 0;

  async function ask(request: SoakRequest): Promise<void> {
    const started = performance.now();
    const status = await send(service.server!.address, request, client);
    if (status === "hung") hung++;
    worstMs = Math.max(worstMs, performance.now() - started);
    const key = `${request.kind} ${status}`;
    responses.set(key, (responses.get(key) ?? 0) + 1);
  }

  async function play(draw: Draw): Promise<void> {
    for (let next = performance.now(); next < end; next += clients * 1000 / rate) {
      await pause(next - performance.now());
      if (performance.now() >= end) return;
      await ask(drawRequest(draw));
    }
  }

  const playing = Promise.all(
    Array.from(
      { length: clients },
      (_, index) => play({ random: seedRandom(seed + index), tokens }),
    ),
  );
  const samples: Sample[] = [];
  for (let next = 1; next <= SAMPLES; next++) {
    const at = end - seconds * 1000 * (1 - next / SAMPLES);
    await pause(at - performance.now());
    samples.push(await takeSample(service));
  }
  await playing;
  client.close();
  return { responses, hung, worstMs, samples, last: await awaitQuiet(service) };
}

/** Returns the status, `disconnected` for a client that did not wait, or how the request failed. */
async function send(
  address: string,
  request: SoakRequest,
  client: Deno.HttpClient,
): Promise<string> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), request.disconnectMs ?? HUNG_MS);
  try {
    const response = await fetch(address + request.path, {
      client,
      method: request.method,
      headers: {
        "authorization": `Bearer ${request.token}`,
        "content-type": "application/json",
        ...request.headers,
      },
      signal: controller.signal,
      ...(request.body !== undefined && { body: request.body }),
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    if (!controller.signal.aborted) return error instanceof Error ? error.name : "failed";
    return request.disconnectMs === undefined ? "hung" : "disconnected";
  } finally {
    clearTimeout(timer);
  }
}

async function fillDeals({ database }: TestService): Promise<void> {
  await database.admin`delete from deals where tenant_id = 1`.catch(() => {});
  await database.admin`
    insert into deals (tenant_id, external_no, title, status, amount, probability, created_on)
    select 1, n, 'Deal ' || n, (array['open', 'won', 'lost', 'on hold'])[1 + n % 4], n % 1000,
      (n % 100) / 100.0, date '2024-01-01' + n % 700
    from generate_series(1, ${SOAK_ROWS}::int4) n on conflict do nothing`;
}

async function makeTokens({ issue }: TestService): Promise<string[]> {
  const tokens: string[] = [];
  for (let number = 0; number < TOKENS; number++) {
    tokens.push(await issue({ name: `soak ${number}`, tenant: number % 4 === 0 ? "2" : "1" }));
  }
  return tokens;
}

/** Waits until the connections of clients are closed, 10 s at most. */
async function awaitQuiet(service: TestService): Promise<Sample> {
  const end = performance.now() + 10_000;
  for (;;) {
    const sample = await takeSample(service);
    // The connection of the sample is one of them.
    if (sample.clients <= 1 || performance.now() > end) return sample;
    await pause(200);
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

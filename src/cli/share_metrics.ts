import type { Metrics } from "../telemetry/metrics.ts";
import type { SupervisorLink } from "../runtime/supervisor_link.ts";
import type { SupervisorMessage, WorkerMessage } from "./worker_messages.ts";

/** A supervisor asks each worker for one second; one that says nothing for so long is stuck. */
const ANSWER_MS = 3000;

/** Gives the supervisor a worker's figures, and the worker's clients those of all. */
export function shareMetrics(own: Metrics, link: SupervisorLink): Metrics {
  const waiting = new Map<number, (text: string) => void>();
  let lastId = 0;
  const tell = (message: WorkerMessage) => link.send(message);

  link.onMessage((received) => {
    const message = received as SupervisorMessage;
    if (message.kind === "printed") return waiting.get(message.id)?.(message.text);
    const { id } = message;
    void own.collect().then((figures) => tell({ kind: "figures", id, figures }));
  });

  function print(): Promise<string> {
    const id = ++lastId;
    return new Promise<string>((resolve) => {
      const timer = setTimeout(() => resolve(own.print()), ANSWER_MS);
      waiting.set(id, (text) => {
        clearTimeout(timer);
        resolve(text);
      });
      tell({ kind: "print", id });
    }).finally(() => waiting.delete(id));
  }

  return { ...own, print };
}

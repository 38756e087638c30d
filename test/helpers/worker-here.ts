import type { Order, WorkerReport } from "../../src/pipeline/workers/messages.js";
import { serveWorker } from "../../src/pipeline/workers/serve-worker.js";
import type { Worker } from "../../src/pipeline/workers/start-worker.js";

/** A worker in this process; what is sent is copied, as between processes. */
export function workerHere(): Worker {
  const orders: ((order: Order) => void)[] = [];
  const reports: ((report: WorkerReport) => void)[] = [];
  serveWorker({
    post(report) {
      const copy = structuredClone(report);
      setImmediate(() => reports.forEach((receive) => receive(copy)));
    },
    onOrder: (receive) => void orders.push(receive),
  });
  return {
    post: (order) => orders.forEach((receive) => receive(structuredClone(order))),
    onReport: (receive) => void reports.push(receive),
    onExit: () => undefined,
    close: () => undefined,
  };
}

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Order, WorkerReport } from "./messages.js";

/** A worker as the parent sees it. */
export interface Worker {
  post(order: Order): void;
  onReport(receive: (report: WorkerReport) => void): void;
  /** Called once, when the worker has ended. */
  onExit(receive: (how: string) => void): void;
  /** Lets the worker end. */
  close(): void;
}

export type StartWorker = () => Worker;

/** The worker's module is next to this one, also in the bundle. */
const entry = fileURLToPath(new URL("./worker.js", import.meta.url));

/** Starts a worker as a process of its own. */
export function startWorker(): Worker {
  const child = fork(entry, {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return {
    post(order) {
      if (child.connected) child.send(order, () => undefined);
    },
    onReport: (receive) => void child.on("message", (report) => receive(report as WorkerReport)),
    onExit(receive) {
      let isOver = false;
      const over = (how: string): void => {
        if (!isOver) receive(how);
        isOver = true;
      };
      child.on("exit", (code, signal) => over(signal ?? `exit code ${code}`));
      child.on("error", (error) => over(error.message));
    },
    close() {
      if (child.connected) child.disconnect();
    },
  };
}

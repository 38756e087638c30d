import { Worker } from "node:worker_threads";

/**
 * Its garbage is short-lived bodies. With half of it the thread, which is what a fast run waits for,
 * collects twice as often (4% of the run); with twice as much it is no faster. Megabytes.
 */
const youngGenerationMb = 24;

/** The module that a thread runs. */
export const threadEntry = new URL("./entry.js", import.meta.url);

/** A thread that runs already and was told nothing yet. */
let spare: { readonly worker: Worker; readonly entry: string } | null = null;

/**
 * Starts a thread ahead of its use, so that it loads its modules while its user loads others: 35 ms of
 * a run's start. It does not keep the process alive. One is enough for a process.
 */
export function startSpareThread(entry = threadEntry): void {
  if (spare !== null) return;
  let worker: Worker;
  try {
    worker = start(entry);
  } catch {
    return; // Whoever needs one tries again, and tells.
  }
  spare = { worker, entry: entry.href };
  const forget = (): void => {
    if (spare?.worker === worker) spare = null;
  };
  worker.once("error", forget).once("exit", forget);
  worker.unref();
}

/**
 * A thread that runs a module and waits for a `ThreadStart`.
 *
 * @throws Error when no thread is to be had
 */
export function takeThread(entry: URL): Worker {
  if (spare?.entry !== entry.href) return start(entry);
  const { worker } = spare;
  spare = null;
  worker.ref();
  return worker;
}

function start(entry: URL): Worker {
  return new Worker(entry, {
    name: "repute requests",
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
}

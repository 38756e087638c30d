import { readFile } from "node:fs/promises";
import { createDispatcher } from "../../api/http/dispatcher.js";
import { InterruptedError } from "../../core/errors.js";
import { runChunk } from "../chunks/run-chunk.js";
import { localWork } from "../chunks/work-folder.js";
import { readPlan } from "../chunks/work-plan.js";
import type { Manifest, RunProgress } from "../types.js";
import { PassThrough } from "node:stream";
import {
  type Order,
  type Outcomes,
  type PaceName,
  receiveError,
  type WorkerReport,
  sendError,
  type WorkerStart,
} from "./messages.js";
import { RemoteAnswers } from "./remote-answers.js";
import { marksName } from "./shared-items.js";
import { RemotePace } from "./remote-pace.js";

/** One end of the channel between the parent and a worker. */
export interface WorkerPort {
  post(report: WorkerReport): void;
  /** Sets the receiver of the parent's orders. */
  onOrder(receive: (order: Order) => void): void;
}

/** Interval between reports of the progress. */
const progressMs = 250;

/** Does the chunks that the parent assigns, one at a time, under the parent's pace. */
export function serveWorker(port: WorkerPort): void {
  const stop = new AbortController();
  const paces = new Map<string, RemotePace>();
  let begun: ReturnType<typeof begin> | null = null;
  const report = (outcomes: Outcomes): void => port.post(outcomes);
  const paceOf = (name: PaceName, mostAhead: number): RemotePace => {
    const known = paces.get(name) ?? new RemotePace({ name, mostAhead, report });
    paces.set(name, known);
    return known;
  };
  port.onOrder((order) => {
    if (order.type === "start") begun = begin(order, paceOf, port, stop.signal);
    else if (order.type === "slots") paces.get(order.pace)?.grant(order.granted);
    else if (order.type === "answer")
      begun?.answers.then(
        (each) => each.receive(order.key, order.finding),
        () => undefined,
      );
    else if (order.type === "stop") stop.abort(new InterruptedError(order.signal));
    else if (order.type === "end") {
      const error = receiveError(order.error);
      for (const pace of paces.values()) pace.end(error);
    } else void begun?.run(order.chunk);
  });
}

/** Prepares what all chunks share, and returns what does one of them. */
function begin(
  start: WorkerStart,
  paceOf: (name: PaceName, mostAhead: number) => RemotePace,
  port: WorkerPort,
  signal: AbortSignal,
): {
  readonly answers: Promise<RemoteAnswers>;
  run(chunk: number): Promise<void>;
} {
  const { type: _type, work: path, shares: names, mostAhead, settings, ...rest } = start;
  const work = localWork(path);
  const plan = readPlan(work);
  const shares = Object.fromEntries(names.map((name) => [name, paceOf(name, mostAhead)]));
  const { intelUrl = "", concurrency } = settings;
  const connections = createDispatcher(intelUrl, { connections: concurrency });
  const onWarning = (message: string): void => port.post({ type: "warning", message });
  const answers = readFile(work.pathOf(marksName))
    .catch(() => null)
    .then((marks) => new RemoteAnswers(marks, (report) => port.post(report)));
  const run = async (chunk: number): Promise<void> => {
    let progress: () => RunProgress | null = () => null;
    let record: () => Manifest | null = () => null;
    const tell = (): void => {
      const now = progress();
      if (now !== null) port.post({ type: "progress", progress: now });
    };
    const timer = setInterval(tell, progressMs);
    try {
      const job = {
        ...rest,
        settings,
        stdout: new PassThrough(),
        signal,
        shared: { pace: paceOf("run", mostAhead), shares, connections, answers: await answers },
        onWarning,
        onStart(now: () => RunProgress, soFar: () => Manifest) {
          progress = now;
          record = soFar;
        },
      };
      await runChunk(job, work, await plan, chunk);
      port.post({ type: "done" });
    } catch (error) {
      tell();
      port.post({ type: "failed", error: sendError(error), record: record() });
    } finally {
      clearInterval(timer);
    }
  };
  return { answers, run };
}

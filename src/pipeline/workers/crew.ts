import { FatalError, InterruptedError } from "../../core/errors.js";
import type { Manifest, RunProgress } from "../types.js";
import { receiveError, type WorkerReport, sendError, type WorkerStart } from "./messages.js";
import type { SharedSlots } from "./paces.js";
import type { AnswerDesk } from "./answer-desk.js";
import type { StartWorker, Worker } from "./start-worker.js";

/** How often a chunk may end with its worker, without a further row, before the run gives up. */
const mostDeaths = 3;

export interface CrewOptions {
  readonly workers: number;
  readonly startWorker: StartWorker;
  readonly start: WorkerStart;
  readonly slots: SharedSlots;
  readonly answers: AnswerDesk;
  /** Chunks to do, in order. */
  readonly chunks: readonly number[];
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
  /** Called when a chunk is done. */
  readonly onDone: (chunk: number) => Promise<void>;
  /** Called with the manifest so far of a chunk that was stopped. */
  readonly onStopped: (record: Manifest) => void;
}

/** Workers of this machine, and the chunks that they do. */
export class Crew {
  readonly #options: CrewOptions;
  readonly #queue: number[];
  /** Of chunks whose workers ended: the rows they had, and deaths since then. */
  readonly #deaths = new Map<number, { readonly rows: number; readonly times: number }>();
  readonly #busy = new Map<Worker, { readonly chunk: number; progress: RunProgress | null }>();
  readonly #idle = new Set<Worker>();
  readonly #stopped: RunProgress[] = [];
  #error: Error | null = null;
  #finish: () => void = () => undefined;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#queue = [...options.chunks];
  }

  /** Progress of the chunks in progress, and of those that were stopped. */
  get progress(): readonly RunProgress[] {
    return [
      ...this.#stopped,
      ...[...this.#busy.values()].flatMap(({ progress }) => progress ?? []),
    ];
  }

  /** Resolves once every chunk is done. @throws the first error, once every worker has stopped */
  async run(): Promise<void> {
    const { workers, signal } = this.#options;
    const onAbort = (): void => this.#stop(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    const many = Math.min(workers, this.#queue.length);
    for (let n = 0; n < many; n++) this.#hire();
    if (signal.aborted) onAbort();
    if (this.#busy.size > 0) await finished;
    signal.removeEventListener("abort", onAbort);
    for (const worker of this.#idle) worker.close();
    if (this.#error !== null) throw this.#error;
  }

  /** Lets no more requests leave: chunks end early, and keep their state. */
  end(error: Error): void {
    if (this.#error !== null) return;
    this.#error = error;
    for (const worker of this.#busy.keys()) worker.post({ type: "end", error: sendError(error) });
  }

  #stop(error: Error): void {
    this.#error ??= error;
    const signal = error instanceof InterruptedError ? error.signal : "SIGTERM";
    for (const worker of this.#busy.keys()) worker.post({ type: "stop", signal });
  }

  #hire(): void {
    const { startWorker, start } = this.#options;
    const worker = startWorker();
    worker.onReport((report) => this.#receive(worker, report));
    worker.onExit((how) => this.#lost(worker, how));
    worker.post(start);
    this.#assign(worker);
  }

  #assign(worker: Worker): void {
    const chunk = this.#error === null ? this.#queue.shift() : undefined;
    this.#busy.delete(worker);
    this.#options.answers.drop(worker);
    if (chunk === undefined) {
      this.#idle.add(worker);
      if (this.#busy.size === 0) this.#finish();
      return;
    }
    this.#busy.set(worker, { chunk, progress: null });
    worker.post({ type: "chunk", chunk });
  }

  #receive(worker: Worker, report: WorkerReport): void {
    const work = this.#busy.get(worker);
    if (work === undefined) return;
    const { answers } = this.#options;
    if (report.type === "outcomes") this.#options.slots.report(worker, report);
    else if (report.type === "claim") this.#settled(answers.claim(worker, report.key));
    else if (report.type === "settled") {
      this.#settled(answers.settle(worker, report.key, report.finding));
    } else if (report.type === "progress") work.progress = report.progress;
    else if (report.type === "warning") this.#options.onWarning(report.message);
    else if (report.type === "failed") {
      const error = receiveError(report.error);
      if (work.progress !== null) this.#stopped.push(work.progress);
      if (report.record !== null) this.#options.onStopped(report.record);
      if (this.#error === null) this.#stop(error);
      this.#assign(worker);
    } else {
      this.#options.onDone(work.chunk).then(
        () => this.#assign(worker),
        (error: Error) => {
          this.#stop(error);
          this.#assign(worker);
        },
      );
    }
  }

  #settled(done: Promise<void>): void {
    done.catch((error: Error) => this.#stop(error));
  }

  /** A worker was killed: another one does its chunk. */
  #lost(worker: Worker, how: string): void {
    const work = this.#busy.get(worker);
    this.#idle.delete(worker);
    this.#busy.delete(worker);
    this.#options.answers.drop(worker);
    if (work === undefined) return;
    const times = this.#timesLost(work.chunk, work.progress?.rowsWritten ?? 0);
    if (times < mostDeaths && this.#error === null) {
      this.#options.onWarning(`a worker ended (${how}); chunk ${work.chunk} is continued`);
      this.#queue.unshift(work.chunk);
      this.#hire();
      return;
    }
    const what = `${times} workers in a row ended during chunk ${work.chunk}, the last one with ${how}`;
    if (this.#error === null) {
      this.#stop(
        new FatalError("worker_failed", what, { hint: "check the memory of the machine" }),
      );
    }
    if (this.#busy.size === 0) this.#finish();
  }

  /** How often a chunk was lost since it had its latest row. */
  #timesLost(chunk: number, rows: number): number {
    const before = this.#deaths.get(chunk) ?? { rows: 0, times: 0 };
    const times = rows > before.rows ? 1 : before.times + 1;
    this.#deaths.set(chunk, { rows: Math.max(rows, before.rows), times });
    return times;
  }
}

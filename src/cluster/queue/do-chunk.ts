import { counted } from "../../core/text/quantity.js";
import { setTimeout as delay } from "node:timers/promises";
import { PassThrough } from "node:stream";
import { FatalError, InterruptedError, UsageError } from "../../core/errors.js";
import { type ChunkJob, runChunk } from "../chunks/run-chunk.js";

import { openWork, type WorkFolder } from "../chunks/work-folder.js";
import { planName, readPlan } from "../chunks/work-plan.js";
import type { EnrichSettings } from "../../run/options.js";
import { systemClock } from "../../core/clock.js";
import { Session } from "../../session/session.js";
import type { RunProgress } from "../../run/types.js";
import type { ChunkJobOfQueue, ChunkQueue, ChunkTask } from "./chunk-queue.js";
import { chunkSettings, readRunRecord, type RunRecord } from "./run-record.js";

export interface QueueWorkerOptions {
  /** Address of the queue's Redis. */
  readonly queue: string;
  /** The only service that this worker asks: its key is for that one. */
  readonly intelUrl: string;
  readonly apiKey: string | null;
  /** Lists of what this machine must not send, besides those of the run. */
  readonly exclude?: readonly string[];
  /** How long the worker may be silent before another one takes over its chunk. */
  readonly lockMs: number;
  readonly stateFolder: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
  readonly onNotice: (message: string) => void;
}

/** Time between two reports of the progress. */
const tickMs = 1_000;

/** A chunk that this worker has in hand. */
export interface TakenChunk {
  readonly job: ChunkJobOfQueue;
  readonly token: string;
  /** Ends the chunk. The first reason counts. */
  readonly ending: AbortController;
  /** Aborts then, or when the worker is told to stop. */
  readonly signal: AbortSignal;
  readonly run: ChunkQueue;
}

/** Another worker has the chunk, or may have it. */
export const lockLost = new FatalError("lock_lost", "another worker does this chunk");

/** The coordinator has stopped the run. */
export const runStopped = new InterruptedError("SIGTERM");

/** Does chunks, one at a time, and keeps the session of their run open. */
export class ChunkDoer {
  readonly #options: QueueWorkerOptions;
  #session: Session | null = null;
  /** The run and the settings of that session: a resumed run may have other rates. */
  #sessionKey = "";
  #ending: AbortController | null = null;
  /** The run of which a chunk is done: its service answers, unless there is an outage. */
  #answeredPlan: string | null = null;

  constructor(options: QueueWorkerOptions) {
    this.#options = options;
  }

  /** @returns false if nobody waits for the chunk */
  async do(taken: TakenChunk): Promise<boolean> {
    const { job, signal, run } = taken;
    const { work: path, plan: id, chunk } = job.data;
    if (await run.isStopped()) return false;
    const work = openWork(path);
    const record = await findRun(work, job.data, run, signal);
    if (record === null) return false;
    this.#ending = taken.ending;
    const { stateFolder, onWarning, onNotice } = this.#options;
    const settings = this.#checked(chunkSettings(record, this.#options));
    let progress: () => RunProgress | null = () => null;
    const ticks = new AbortController();
    const ticking = tick(taken, () => progress(), ticks.signal);
    try {
      const own: ChunkJob = {
        settings,
        session: await this.#sessionOf(id, settings),
        command: record.command,
        stdout: new PassThrough(),
        signal,
        answered: this.#answeredPlan === id,
        stateFolder,
        onWarning,
        onStart: (now) => void (progress = now),
      };
      const { result, wasDone } = await runChunk(own, work, await readPlan(work), chunk);
      this.#answeredPlan = id;
      if (!wasDone) onNotice(`chunk ${chunk} of ${path}: ${counted(result.rows, "row")}`);
      return true;
    } catch (error) {
      // They may be the reason: a quota that is used up, a lost connection.
      await this.close();
      // Or the run is gone with its files.
      const isGone = !signal.aborted && (await findRun(work, job.data, run, signal)) === null;
      if (isGone) return false;
      throw error;
    } finally {
      this.#ending = null;
      ticks.abort();
      await ticking;
    }
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close().catch(() => undefined);
  }

  async #sessionOf(plan: string, settings: EnrichSettings): Promise<Session> {
    const key = `${plan} ${JSON.stringify(settings)}`;
    if (this.#session !== null && key === this.#sessionKey) return this.#session;
    await this.close();
    const { intelUrl: url, apiKey: credential, stateFolder, onWarning } = this.#options;
    const { lookup, service } = settings;
    this.#sessionKey = key;
    this.#session = new Session({
      service: { url, name: url, credential, embedded: false },
      settings: { ...lookup, ...service },
      clock: systemClock,
      stateFolder,
      onWarning,
      onEarlyEnd: (error) => this.#ending?.abort(error),
      isShared: true,
      // Each processor has a worker.
      threads: false,
    });
    return this.#session;
  }

  /** The key must not reach another service than the one it was set for. */
  #checked(settings: EnrichSettings): EnrichSettings {
    const { intelUrl } = this.#options;
    const asked = settings.service.intelUrl;
    if (asked === intelUrl) return settings;
    throw new UsageError(
      "workers_option",
      `a run asks ${asked ?? "no service"}; this worker is for ${intelUrl}`,
      {
        hint: "give worker and run the same --intel-url, or use another database of Redis for each service",
      },
    );
  }
}

/** Looks for a run, and the pause between them: a shared folder may show it late. */
const looks = { many: 25, pauseMs: 400 };

/** The record of the task's run; null if the run is over. @throws FatalError `work_unreadable` */
async function findRun(
  work: WorkFolder,
  { plan }: ChunkTask,
  run: ChunkQueue,
  signal: AbortSignal,
): Promise<RunRecord | null> {
  for (let look = 1; ; look++) {
    const record = await readRunRecord(work);
    if (record?.plan === plan && (await work.read(planName)) !== null) return record;
    // Of a run that is over, unless somebody waits for it.
    if (!(await run.isLed())) return null;
    if (look === looks.many) break;
    await delay(looks.pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  throw new FatalError("work_unreadable", `${work.name} does not hold the run of this chunk`, {
    hint: "mount it under the same path on every machine, then continue with --resume; if it is gone, that starts over",
  });
}

/** Reports the progress, and notices that the run was stopped or the lock is gone. */
async function tick(
  { job, token, ending, run }: TakenChunk,
  progress: () => RunProgress | null,
  signal: AbortSignal,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (;;) {
    await delay(tickMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const now = progress();
    // While Redis is away, these wait; the chunk goes on.
    const told = (async () => {
      if (now !== null) await job.updateProgress(now);
      if (await run.isStopped()) ending.abort(runStopped);
      if ((await run.holder(job.data.chunk)) !== token) ending.abort(lockLost);
    })().catch(() => undefined);
    await Promise.race([told, ended]);
  }
}

import type { Manifest } from "../../core/manifest.js";
import type { SinkPosition } from "../../io/output/types.js";
import type { OpenRun } from "./open-run.js";
import { saveUnfinished } from "./state/state-folder.js";

/** A checkpoint is due after this time or this many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

/** Time between two records of an unfinished run, in milliseconds. A kill loses no more of it. */
const recordMs = 5_000;

/** A run whose progress is saved. */
export type SavedRun = OpenRun & { readonly checkpointer: Checkpointer };

/** Saves the progress of a run, at regular intervals and never ahead of what is durable. */
export class Checkpointer {
  readonly startedAt: string;
  readonly resumed: number;
  readonly #run: OpenRun;
  /** The manifest of the run so far, saved for readers. */
  readonly #record: () => Manifest;
  readonly #begunAt: number;
  #savedAt: number;
  #savedRows: number;
  #recordedAt = Number.NEGATIVE_INFINITY;

  constructor(run: OpenRun, record: () => Manifest) {
    const { job, before, clock, tally } = run;
    this.#run = run;
    this.#record = record;
    this.startedAt = before?.startedAt ?? job.startedAt ?? new Date(clock.now()).toISOString();
    this.resumed = before === null ? 0 : before.resumed + 1;
    this.#begunAt = clock.monotonic();
    this.#savedAt = this.#begunAt;
    this.#savedRows = tally.rows;
  }

  /** Duration of the run in seconds, including the time before an interruption. */
  get seconds(): number {
    const { before, clock } = this.#run;
    return (before?.seconds ?? 0) + (clock.monotonic() - this.#begunAt) / 1000;
  }

  /** Saves a checkpoint when one is due, or when `last` is true. */
  async written(last: boolean): Promise<void> {
    const { tally, clock, state } = this.#run;
    if (last) tally.settle();
    const isDue =
      clock.monotonic() - this.#savedAt >= due.ms || tally.rows - this.#savedRows >= due.rows;
    if (state.isKept && (last || isDue)) await this.save();
  }

  /** Makes the rows so far durable and saves a checkpoint, if the state of the run is kept. */
  async save(): Promise<SinkPosition> {
    const { state, source, sink, tally, clock, runId, fingerprint } = this.#run;
    const position = await sink.checkpoint();
    if (!state.isKept) return position;
    const { startedAt, seconds, resumed } = this;
    const answers = { last: state.journal.last, earlier: state.earlier };
    const run = { runId, startedAt, seconds, resumed, fingerprint, answers };
    const { columns, types, reading } = source;
    const [input, files] = [source.checksum(), source.files?.()];
    const read = { row: tally.rows, columns, types, reading, input, files };
    await state.save({ ...run, source: read, sink: position, tally: tally.snapshot() });
    this.#savedAt = clock.monotonic();
    this.#savedRows = tally.rows;
    if (this.#savedAt - this.#recordedAt >= recordMs) {
      this.#recordedAt = this.#savedAt;
      await saveUnfinished(state.path, this.#record());
    }
    return position;
  }
}

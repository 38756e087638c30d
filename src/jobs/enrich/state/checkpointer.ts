import type { Clock } from "../../../core/clock.js";
import type { Sink } from "../../../io/output/types.js";
import type { OpenedSource } from "../../../io/input/types.js";
import type { Fingerprint } from "./fingerprint.js";
import type { WindowPosition } from "../rows/row-window.js";
import type { Manifest } from "../../../core/manifest.js";
import type { StateFolder } from "./state-folder.js";
import type { Tally } from "../tally.js";
import { type Checkpoint, type ResumePoint, saveUnfinished } from "./checkpoint.js";

/** A checkpoint is due after this time or this many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

/** Time between two records of an unfinished run, in milliseconds. A kill loses no more of it. */
const recordMs = 5_000;

interface CheckpointerOptions {
  readonly clock: Clock;
  readonly sink: Sink;
  /** The answers of the run so far, which are saved with each checkpoint. */
  readonly answers: () => Checkpoint["answers"];
  /** Null if the output is a stream, which cannot be resumed. */
  readonly state: Pick<StateFolder, "save" | "path"> | null;
  readonly tally: Tally;
  readonly fingerprint: Fingerprint;
  /** Supplies its columns, its reading and the checksum of the bytes read. */
  readonly source: Pick<OpenedSource, "columns" | "types" | "reading" | "checksum" | "files">;
  readonly before: ResumePoint | null;
  readonly runId: string;
  /** When a new run began. @default now */
  readonly startedAt?: string | undefined;
  /** The manifest of the run so far, saved for readers. */
  readonly record: () => Manifest;
}

/** Saves the progress of a run, at regular intervals and never ahead of what is durable. */
export class Checkpointer {
  readonly runId: string;
  readonly startedAt: string;
  readonly resumed: number;
  readonly #options: CheckpointerOptions;
  readonly #begunAt: number;
  #position: WindowPosition = { last: null, ahead: [] };
  #lastAt: number;
  #lastRows: number;
  #recordedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CheckpointerOptions) {
    const { before, clock, tally, startedAt = new Date(clock.now()).toISOString() } = options;
    this.#options = options;
    this.runId = options.runId;
    this.startedAt = before?.startedAt ?? startedAt;
    this.resumed = before === null ? 0 : before.resumed + 1;
    this.#begunAt = clock.monotonic();
    this.#lastAt = this.#begunAt;
    this.#lastRows = tally.rows;
  }

  /** Duration of the run in seconds, including the time before an interruption. */
  get seconds(): number {
    const { before, clock } = this.#options;
    return (before?.seconds ?? 0) + (clock.monotonic() - this.#begunAt) / 1000;
  }

  /** Records what is written. Saves a checkpoint when one is due, or when `last` is true. */
  async written(position: WindowPosition, last: boolean): Promise<void> {
    this.#position = position;
    if (last) this.#options.tally.settle();
    if (this.#options.state === null) return;
    const elapsed = this.#options.clock.monotonic() - this.#lastAt;
    const rows = this.#options.tally.rows - this.#lastRows;
    const isDue = elapsed >= due.ms || rows >= due.rows;
    if (last || isDue) await this.save();
  }

  /** Saves a checkpoint. Returns null if the run keeps no state. */
  async save(): Promise<Checkpoint | null> {
    const { state, sink, answers, tally, clock } = this.#options;
    if (state === null) return null;
    const position = await sink.checkpoint();
    const saved: Checkpoint = {
      runId: this.runId,
      startedAt: this.startedAt,
      seconds: this.seconds,
      resumed: this.resumed,
      fingerprint: this.#options.fingerprint,
      source: this.#sourcePosition(),
      ahead: this.#ahead(),
      sink: position,
      answers: answers(),
      tally: tally.snapshot(),
    };
    await state.save(saved);
    this.#lastAt = clock.monotonic();
    this.#lastRows = tally.rows;
    await this.#saveRecord();
    return saved;
  }

  async #saveRecord(): Promise<void> {
    const { state, record } = this.#options;
    if (this.#lastAt - this.#recordedAt < recordMs) return;
    this.#recordedAt = this.#lastAt;
    if (state !== null) await saveUnfinished(state.path, record());
  }

  #sourcePosition(): Checkpoint["source"] {
    const { before, source } = this.#options;
    const { last } = this.#position;
    const reached = last && { offset: last.end, row: last.number, line: last.endLine };
    const { columns, types, reading } = source;
    const from = reached ?? before?.source ?? { offset: 0, row: 0, line: 0 };
    const input = source.checksum();
    const files = source.files?.();
    return {
      ...from,
      columns,
      ...(types === undefined ? {} : { types }),
      reading,
      ...(input === undefined ? {} : { input }),
      ...(files === undefined ? {} : { files }),
    };
  }

  /** Rows written ahead, including those from before the interruption until the position passes. */
  #ahead(): readonly number[] {
    const reached = this.#position.last?.number ?? this.#options.before?.source.row ?? 0;
    const earlier = (this.#options.before?.ahead ?? []).filter((number) => number > reached);
    return earlier.length === 0 ? this.#position.ahead : [...earlier, ...this.#position.ahead];
  }
}

import { join } from "node:path";
import type { Clock } from "../../../core/clock.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";
import type { OpenedSource, SourcePosition } from "../../../io/input/types.js";
import type { Sink, SinkPosition } from "../../../io/output/types.js";
import { type Tally, type TallySnapshot, withoutRows } from "../tally.js";
import type { Fingerprint } from "./fingerprint.js";

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** Name of the file with all that must survive of a run. */
export const databaseName = "run.db";

/** Name of the manifest of an unfinished run, for readers. */
export const recordName = "manifest.json";

/** Progress of a run: enough to continue it in another process. */
export interface Checkpoint {
  readonly runId: string;
  /** Start of the run, RFC 3339 UTC. */
  readonly startedAt: string;
  /** Duration so far in seconds, over all its processes. */
  readonly seconds: number;
  /** Number of times the run was resumed. */
  readonly resumed: number;
  readonly fingerprint: Fingerprint;
  /** How the input is read, and how many of its rows are written. */
  readonly source: SourcePosition;
  readonly sink: SinkPosition;
  /** Number of the latest answer that is stored, and of the latest one of an earlier run; 0 for none. */
  readonly answers: { readonly last: number; readonly earlier: number };
  readonly tally: TallySnapshot;
}

/** Where a run continues. */
export interface ResumePoint extends Omit<Checkpoint, "sink"> {
  /** Null if its rows are to be written again. */
  readonly sink: SinkPosition | null;
}

/** The same run, with all of its rows still to write. */
export function fromFirstRow(point: ResumePoint): ResumePoint {
  const source = { ...point.source, row: 0 };
  return { ...point, source, sink: null, tally: withoutRows(point.tally) };
}

/**
 * A run whose rows are written and verified, so that only publishing is left. Saved in the state
 * folder before the first file gets its final name, and removed as the last step before the process
 * exits. A `--resume` that finds it repeats the publishing, which is idempotent.
 */
export interface FinishedRun {
  /** Identifies the run and tells how much of its output is durable. */
  readonly checkpoint: Checkpoint;
  readonly manifest: Manifest;
  /** Appended to the names of its files. */
  readonly suffix: string;
  /** Its objects are uploaded: what is left is to remove the local files. */
  readonly published?: boolean;
}

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  await writeJsonFile(join(folder, recordName), record, true).catch(() => undefined);
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}

/** A checkpoint is due after this time or this many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

/** Time between two records of an unfinished run, in milliseconds. A kill loses no more of it. */
const recordMs = 5_000;

interface CheckpointerOptions extends Pick<Checkpoint, "runId" | "fingerprint"> {
  readonly clock: Clock;
  readonly sink: Sink;
  readonly source: OpenedSource;
  readonly tally: Tally;
  readonly before: ResumePoint | null;
  /** Where to save it; null if the output is a stream, which cannot be resumed. */
  readonly state: { readonly path: string; save(next: Checkpoint): Promise<void> } | null;
  /** The answers of the run so far, which are saved with each checkpoint. */
  readonly answers: () => Checkpoint["answers"];
  /** When a new run began. @default now */
  readonly startedAt?: string | undefined;
  /** The manifest of the run so far, saved for readers. */
  readonly record: () => Manifest;
}

/** Saves the progress of a run, at regular intervals and never ahead of what is durable. */
export class Checkpointer {
  readonly startedAt: string;
  readonly resumed: number;
  readonly #options: CheckpointerOptions;
  readonly #begunAt: number;
  #savedAt: number;
  #savedRows: number;
  #recordedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CheckpointerOptions) {
    const { before, clock, tally, startedAt = new Date(clock.now()).toISOString() } = options;
    this.#options = options;
    this.startedAt = before?.startedAt ?? startedAt;
    this.resumed = before === null ? 0 : before.resumed + 1;
    this.#begunAt = clock.monotonic();
    this.#savedAt = this.#begunAt;
    this.#savedRows = tally.rows;
  }

  /** Duration of the run in seconds, including the time before an interruption. */
  get seconds(): number {
    const { before, clock } = this.#options;
    return (before?.seconds ?? 0) + (clock.monotonic() - this.#begunAt) / 1000;
  }

  /** Saves a checkpoint when one is due, or when `last` is true. */
  async written(last: boolean): Promise<void> {
    const { tally, clock, state } = this.#options;
    if (last) tally.settle();
    if (state === null) return;
    const isDue =
      clock.monotonic() - this.#savedAt >= due.ms || tally.rows - this.#savedRows >= due.rows;
    if (last || isDue) await this.save();
  }

  /** Saves a checkpoint. Returns null if the run keeps no state. */
  async save(): Promise<Checkpoint | null> {
    const { state, sink, answers, tally, clock, runId, fingerprint, record } = this.#options;
    if (state === null) return null;
    const position = await sink.checkpoint();
    const { startedAt, seconds, resumed } = this;
    const saved: Checkpoint = {
      runId,
      startedAt,
      seconds,
      resumed,
      fingerprint,
      source: this.#sourcePosition(),
      sink: position,
      answers: answers(),
      tally: tally.snapshot(),
    };
    await state.save(saved);
    this.#savedAt = clock.monotonic();
    this.#savedRows = tally.rows;
    if (this.#savedAt - this.#recordedAt >= recordMs) {
      this.#recordedAt = this.#savedAt;
      await saveUnfinished(state.path, record());
    }
    return saved;
  }

  #sourcePosition(): SourcePosition {
    const { source, tally } = this.#options;
    const { columns, types, reading } = source;
    const input = source.checksum();
    const files = source.files?.();
    return {
      row: tally.rows,
      columns,
      ...(types === undefined ? {} : { types }),
      reading,
      ...(input === undefined ? {} : { input }),
      ...(files === undefined ? {} : { files }),
    };
  }
}

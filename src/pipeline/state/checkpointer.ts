import type { Clock } from "../../core/clock.js";
import type { FindingStore } from "../../store/store.js";
import type { Sink, SinkPosition } from "../../outputs/types.js";
import type { OpenedSource, SourcePosition } from "../../inputs/types.js";
import type { Fingerprint } from "./fingerprint.js";
import type { WindowPosition } from "../run/row-window.js";
import type { StateFolder } from "./state-folder.js";
import type { Tally, TallySnapshot } from "../run/tally.js";
import { writeNote } from "../output/warehouse-run.js";

/** A checkpoint is due after so much time or so many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

export interface CheckpointerOptions {
  readonly clock: Clock;
  readonly sink: Sink;
  /** Made durable before the checkpoint that relies on it. */
  readonly journal: Pick<FindingStore, "sync" | "durableBytes">;
  /** Null when the output is a stream: there is nothing to come back to. */
  readonly state: Pick<StateFolder, "save"> | null;
  readonly tally: Tally;
  readonly fingerprint: Fingerprint;
  /** Its columns, how it is read, and the checksum of what was read of it. */
  readonly source: Pick<OpenedSource, "columns" | "reading" | "checksum">;
  readonly before: Checkpoint | null;
  readonly runId: string;
}

/** Writes down how far a run is, often enough and never ahead of what is durable. */
export class Checkpointer {
  readonly runId: string;
  readonly startedAt: string;
  /** How often this run was continued. */
  readonly resumed: number;
  readonly #options: CheckpointerOptions;
  readonly #begunAt: number;
  #position: WindowPosition = { last: null, ahead: [] };
  #lastAt: number;
  #lastRows: number;

  constructor(options: CheckpointerOptions) {
    const { before, clock, tally } = options;
    this.#options = options;
    this.runId = options.runId;
    this.startedAt = before?.startedAt ?? new Date(clock.now()).toISOString();
    this.resumed = before === null ? 0 : before.resumed + 1;
    this.#begunAt = clock.monotonic();
    this.#lastAt = this.#begunAt;
    this.#lastRows = tally.rows;
  }

  /** Seconds that the run took, those before an interruption included. */
  get seconds(): number {
    const { before, clock } = this.#options;
    return (before?.seconds ?? 0) + (clock.monotonic() - this.#begunAt) / 1000;
  }

  /** Takes note of what is written, and makes a checkpoint when one is due or it is the last. */
  async written(position: WindowPosition, last: boolean): Promise<void> {
    this.#position = position;
    if (last) this.#options.tally.settle();
    if (this.#options.state === null) return;
    const elapsed = this.#options.clock.monotonic() - this.#lastAt;
    const rows = this.#options.tally.rows - this.#lastRows;
    const isDue = elapsed >= due.ms || rows >= due.rows || this.#options.sink.full === true;
    if (last || isDue) await this.save();
  }

  /** Makes a checkpoint; null where nothing is kept. */
  async save(): Promise<Checkpoint | null> {
    const { state, sink, journal, tally, clock } = this.#options;
    if (state === null) return null;
    await journal.sync();
    const journalBytes = journal.durableBytes ?? 0;
    const checkpoint = (position: SinkPosition): Checkpoint => ({
      version: checkpointVersion,
      runId: this.runId,
      startedAt: this.startedAt,
      seconds: this.seconds,
      resumed: this.resumed,
      fingerprint: this.#options.fingerprint,
      source: this.#sourcePosition(),
      ahead: this.#ahead(),
      sink: position,
      journalBytes,
      tally: tally.snapshot(),
    });
    // A run without a row leaves nothing in a database that somebody would have to look after.
    const note = (position: SinkPosition): string => writeNote(checkpoint(position));
    const durable = await (tally.rows === 0 ? sink.checkpoint() : sink.checkpoint(note));
    const saved = checkpoint(durable);
    await state.save(saved);
    this.#lastAt = clock.monotonic();
    this.#lastRows = tally.rows;
    return saved;
  }

  #sourcePosition(): Checkpoint["source"] {
    const { before, source } = this.#options;
    const { last } = this.#position;
    const reached = last && { offset: last.end, row: last.number, line: last.endLine };
    const { columns, reading } = source;
    const from = reached ?? before?.source ?? { offset: 0, row: 0, line: 0 };
    return { ...from, columns, reading, input: source.checksum() };
  }

  /** Rows written ahead; those of before the interruption count until the position is past them. */
  #ahead(): readonly number[] {
    const reached = this.#position.last?.number ?? this.#options.before?.source.row ?? 0;
    const earlier = (this.#options.before?.ahead ?? []).filter((number) => number > reached);
    return earlier.length === 0 ? this.#position.ahead : [...earlier, ...this.#position.ahead];
  }
}

/** Version of the checkpoint's own form; another one is refused, not misread. */
export const checkpointVersion = 2;

/** How far a run is: enough to continue it in another process. */
export interface Checkpoint {
  readonly version: typeof checkpointVersion;
  readonly runId: string;
  /** When the run began, RFC 3339 UTC. */
  readonly startedAt: string;
  /** Seconds that the run took up to here, in all its processes. */
  readonly seconds: number;
  /** How often the run was continued. */
  readonly resumed: number;
  readonly fingerprint: Fingerprint;
  /** The input is read and written up to here; its first byte when no row is written yet. */
  readonly source: SourcePosition;
  /** Rows behind that position that are written already (unordered output). */
  readonly ahead: readonly number[];
  readonly sink: SinkPosition;
  /** Bytes of the journal of lookups that are durable. */
  readonly journalBytes: number;
  readonly tally: TallySnapshot;
}

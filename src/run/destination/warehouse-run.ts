import type { Clock } from "../../core/clock.js";
import { addedColumns, type OptionalColumns } from "../../core/columns.js";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { raceAbort } from "../../core/abort.js";
import { openSealedJson } from "../../core/files/json-file.js";
import type { Encoder } from "../../formats/types.js";
import type { PartRecord, Sink } from "../../outputs/types.js";
import type { OpenedWarehouse, WarehouseAudit } from "../../outputs/warehouse/types.js";
import { partOptions } from "./encoder-options.js";
import type { Tally } from "../tally.js";
import type { EnrichJob } from "../types.js";
import type { Checkpoint, CheckpointNote } from "../state/checkpoint.js";
import type { WarehouseOutputTarget } from "./output-target.js";

export interface WarehouseRunOptions {
  readonly job: EnrichJob;
  readonly target: WarehouseOutputTarget;
  readonly runId: string;
  /** The optional columns of the rows. */
  readonly optional: OptionalColumns;
  readonly clock: Clock;
  /** An existing folder for the files of an interrupted run. */
  readonly stateFolder: string;
  /** Wraps the encoder of a data set of text. */
  readonly wrapEncoder?: ((encoder: Encoder) => Encoder) | undefined;
  /** The files of a data set whose run is finished. */
  readonly finished?: readonly PartRecord[] | undefined;
}

/**
 * A run's warehouse. On a resume it is opened before the input, because a database may hold a newer
 * checkpoint than the state folder.
 */
export class WarehouseRun {
  /**
   * Counts warnings about values that could not be stored unchanged. Set once the run has a tally.
   */
  tally: Tally | null = null;
  readonly #options: WarehouseRunOptions;
  readonly #told = new Set<string>();
  #opened: OpenedWarehouse | null = null;

  constructor(options: WarehouseRunOptions) {
    this.#options = options;
  }

  /**
   * Opens the warehouse to continue an interrupted run.
   *
   * @returns the latest checkpoint of that run
   * @throws ReputeError from the warehouse; FatalError `output_table_differs`
   */
  async resume(saved: Checkpoint): Promise<Checkpoint> {
    const opened = await this.#open(saved.source.columns, saved);
    try {
      return this.#newest(saved, opened);
    } catch (error) {
      await opened.sink.abandon();
      throw error;
    }
  }

  /**
   * Returns the sink, and opens the warehouse for a new run unless `resume` has. @throws
   * ReputeError
   */
  async sink(columns: readonly string[]): Promise<Sink> {
    return (this.#opened ?? (await this.#open(columns, null))).sink;
  }

  /** Counts the rows of this run in the warehouse. @throws FatalError */
  audit(): Promise<WarehouseAudit> {
    if (this.#opened === null) throw new TypeError("open the warehouse before its audit");
    return this.#opened.audit();
  }

  /** Closes whatever is still open. */
  async abandon(): Promise<void> {
    await this.#opened?.sink.abandon();
  }

  async #open(columns: readonly string[], saved: Checkpoint | null): Promise<OpenedWarehouse> {
    const { job, target, runId, clock, stateFolder, wrapEncoder } = this.#options;
    const added = addedColumns(this.#options.optional);
    const opening = target.warehouse.open({
      columns,
      prefix: job.settings.output.prefix,
      optional: this.#options.optional,
      runId,
      resume: saved?.sink ?? null,
      stateFolder,
      onWarning: (message) => this.#warn(message),
      signal: job.signal,
      clock,
      finished: this.#options.finished,
      parts: partOptions(job.settings.output, target, { columns, added, clock, wrapEncoder }),
    });
    this.#opened = await raceAbort(opening, job.signal, (late) => late.sink.abandon());
    return this.#opened;
  }

  #newest(saved: Checkpoint, { note, rows }: OpenedWarehouse): Checkpoint {
    const { name } = this.#options.target;
    let newest = saved;
    if (note !== null) {
      const read = openSealedJson(note) as Partial<CheckpointNote> | null;
      if (read?.runId !== saved.runId || read.version !== saved.version) {
        const text = `the checkpoint of the interrupted run in ${name} is damaged`;
        throw new FatalError("checkpoint_damaged", text, { hint: startOver });
      }
      newest = { ...saved, ...read };
    }
    if (rows === undefined || rows === newest.sink.rows) return newest;
    throw new FatalError(
      "output_table_differs",
      `${name} holds ${rows} rows of the interrupted run, but its checkpoint says ${newest.sink.rows}`,
      { hint: startOver },
    );
  }

  #warn(message: string): void {
    this.tally?.warning(message);
    // The same warning may occur for every row.
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#options.job.onWarning?.(message);
  }
}

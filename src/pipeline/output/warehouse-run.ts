import type { Clock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import { raceAbort } from "../../core/abort.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import type { Sink } from "../../outputs/types.js";
import type { OpenedWarehouse, WarehouseAudit } from "../../outputs/warehouse/types.js";
import type { Checkpoint } from "../state/checkpointer.js";
import type { WarehouseOutputTarget } from "./open-output.js";
import type { Tally } from "../run/tally.js";
import type { EnrichJob } from "../types.js";

export interface WarehouseRunOptions {
  readonly job: EnrichJob;
  readonly target: WarehouseOutputTarget;
  readonly runId: string;
  readonly clock: Clock;
  /** An existing folder for what an interrupted run leaves. */
  readonly stateFolder: string;
}

/**
 * A run's warehouse. Where a run is resumed it is opened before the input, because a database may
 * know of a newer checkpoint than the state folder.
 */
export class WarehouseRun {
  /** Counts what could not be stored as it was, once there is something to count it in. */
  tally: Tally | null = null;
  readonly #options: WarehouseRunOptions;
  readonly #told = new Set<string>();
  #opened: OpenedWarehouse | null = null;

  constructor(options: WarehouseRunOptions) {
    this.#options = options;
  }

  /**
   * Opens it where an interrupted run is to be continued.
   *
   * @returns how far that run is
   * @throws ReputeError as the warehouse's kind; FatalError `output_table_differs`
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

  /** The sink, opened for a new run where `resume` has not done that. @throws ReputeError */
  async sink(columns: readonly string[]): Promise<Sink> {
    return (this.#opened ?? (await this.#open(columns, null))).sink;
  }

  /** Counts what is there of the run. @throws FatalError */
  audit(): Promise<WarehouseAudit> {
    if (this.#opened === null) throw new TypeError("a warehouse is audited before it is opened");
    return this.#opened.audit();
  }

  /** Lets go of what was opened; nothing to do when it is closed already. */
  async abandon(): Promise<void> {
    await this.#opened?.sink.abandon();
  }

  async #open(columns: readonly string[], saved: Checkpoint | null): Promise<OpenedWarehouse> {
    const { job, target, runId, clock, stateFolder } = this.#options;
    const opening = target.warehouse.open({
      columns,
      prefix: job.settings.prefix,
      runId,
      resume: saved?.sink ?? null,
      stateFolder,
      onWarning: (message) => this.#warn(message),
      signal: job.signal,
      clock,
    });
    this.#opened = await raceAbort(opening, job.signal, (late) => late.sink.abandon());
    return this.#opened;
  }

  #newest(saved: Checkpoint, { note, rows }: OpenedWarehouse): Checkpoint {
    const { name } = this.#options.target;
    const hint = "start anew with --restart";
    let newest = saved;
    if (note !== null) {
      const read = openSealedJson(note) as Partial<CheckpointNote> | null;
      if (read?.runId !== saved.runId || read.version !== saved.version) {
        const text = `the checkpoint of the interrupted run in ${name} is not what the run wrote`;
        throw new FatalError("checkpoint_damaged", text, { hint });
      }
      newest = { ...saved, ...read };
    }
    if (rows === undefined || rows === newest.sink.rows) return newest;
    throw new FatalError(
      "output_table_differs",
      `${name} holds ${rows} rows of the interrupted run where ${newest.sink.rows} were written`,
      { hint },
    );
  }

  #warn(message: string): void {
    this.tally?.warning(message);
    // It may come for every row.
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#options.job.onWarning?.(message);
  }
}

/** What a checkpoint says in a database: all but what the state folder knows of the run as a whole. */
type CheckpointNote = Omit<Checkpoint, "fingerprint">;

/** A checkpoint as it is kept in a database: without the paths and addresses of the fingerprint. */
export function writeNote({ fingerprint: _fingerprint, ...note }: Checkpoint): string {
  return sealJson(note satisfies CheckpointNote);
}

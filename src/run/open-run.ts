import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../core/clock.js";
import { addedColumns, type OptionalColumns } from "../core/columns.js";
import { type ResourceStack } from "../core/resource-stack.js";
import { raceAbort } from "../core/abort.js";
import type { OpenedSource } from "../inputs/types.js";
import { detectSinkFormat, formats } from "../formats/registry.js";
import type { EncoderOptions, RejectsOptions } from "../formats/types.js";
import { openFileDestination } from "../outputs/file-destination.js";
import { textSink, withRejects } from "../outputs/text-sink.js";
import type { Sink, SinkPosition } from "../outputs/types.js";
import { encoderOptions } from "./destination/encoder-options.js";
import { openSink } from "./destination/open-output.js";
import { realPath } from "../core/files/real-path.js";
import { WarehouseRun } from "./destination/warehouse-run.js";
import { type Fingerprint, takeFingerprint } from "./state/fingerprint.js";
import type { StateFolder } from "./state/state-folder.js";
import type { EnrichJob } from "./types.js";
import { announceReading, optionalColumnsOf } from "./rows/reading.js";
import { Tally } from "./tally.js";
import type { Checkpoint } from "./state/checkpoint.js";
import type { RowHandling } from "./rows/row-handling.js";
import type { OutputTarget } from "./destination/output-target.js";

/** Where a run writes, and where it keeps the state for a resume. */
export interface RunPlace {
  readonly target: OutputTarget;
  /** Null if the run cannot be resumed. */
  readonly state: StateFolder | null;
  /** Folder of the journal. */
  readonly journalPath: string;
  /** The input has grown since the run was interrupted. @default false */
  readonly inputGrew?: boolean;
}

/** A run with its input and output open, ready to move rows. */
export interface OpenRun extends RunPlace {
  readonly clock: Clock;
  readonly runId: string;
  readonly fingerprint: Fingerprint;
  readonly inputGrew: boolean;
  /** The optional columns of the output. */
  readonly optional: OptionalColumns;
  /** Checkpoint to continue from; null for a new run. */
  readonly before: Checkpoint | null;
  readonly source: OpenedSource;
  /** Null if the output is text. */
  readonly warehouse: WarehouseRun | null;
  readonly tally: Tally;
  readonly encoder: EncoderOptions;
  /** The caller finishes or abandons it; the stack closes the source. */
  readonly sink: Sink;
}

/** Opens a run's input and output, at the interrupted run's position or at the start. */
export async function openRun(
  job: EnrichJob,
  handling: RowHandling,
  place: RunPlace,
  stack: ResourceStack,
): Promise<OpenRun> {
  const clock = job.clock ?? systemClock;
  const { target, state, inputGrew = false } = place;
  const saved = state?.checkpoint ?? null;
  const fingerprint = await takeFingerprint(job, handling, target);
  const optional = optionalColumnsOf(job, handling);
  const runId = saved?.runId ?? handling.runId ?? job.runId ?? randomUUID();
  job.onRunId?.(runId);
  const warehouse =
    target.warehouse === null || state === null
      ? null
      : new WarehouseRun({
          job,
          target,
          runId,
          optional,
          clock,
          stateFolder: state.path,
          wrapEncoder: handling.encoder,
        });
  const before = saved === null || warehouse === null ? saved : await warehouse.resume(saved);
  const source = await openSource(job, handling, before, warehouse);
  stack.use(source);
  const tally = new Tally(before?.tally);
  if (warehouse !== null) warehouse.tally = tally;
  if (job.session.service.isSynthetic || handling.synthetic === true) tally.synthetic = true;
  announceReading(job, source);
  const added = addedColumns(optional);
  const encoder = encoderOptions(job.settings.output, target, {
    columns: source.columns,
    added,
    clock,
  });
  const input = { fingerprint, inputGrew, before, source };
  const opened = { ...place, ...input, optional, clock, runId, warehouse, tally, encoder };
  return { ...opened, sink: await openRunSink(job, handling, opened) };
}

async function openSource(
  job: EnrichJob,
  handling: RowHandling,
  before: Checkpoint | null,
  warehouse: WarehouseRun | null,
): Promise<OpenedSource> {
  try {
    const opening = handling.open(before?.source ?? null);
    return await raceAbort(opening, job.signal, (late) => late.close());
  } catch (error) {
    await warehouse?.abandon();
    throw error;
  }
}

async function openRunSink(
  job: EnrichJob,
  handling: RowHandling,
  { target, source, warehouse, before, encoder }: Omit<OpenRun, "sink">,
): Promise<Sink> {
  const { rejects: path, formulaGuard } = job.settings.output;
  const { columns, reading } = source;
  const several = source.files !== undefined;
  const rejects = path === undefined ? null : { path, columns, reading, formulaGuard, several };
  const resume = before?.sink ?? null;
  if (target.warehouse !== null) {
    if (warehouse === null) throw new TypeError("a warehouse needs a state folder");
    return addRejects(await warehouse.sink(columns), rejects, resume);
  }
  const options = { encoder, wrapEncoder: handling.encoder, stdout: job.stdout, resume };
  return addRejects(await openSink(target, options), rejects, resume);
}

/** File for rejected rows, and the format of the input they come from. */
type RejectsFile = RejectsOptions & { readonly path: string };

/**
 * Adds the file of rejected rows to a run's sink, truncated to the checkpoint when resuming.
 *
 * @param resume position of the interrupted run, or null
 * @throws FatalError `output_*`, after abandoning the sink
 */
async function addRejects(
  sink: Sink,
  rejects: RejectsFile | null,
  resume: SinkPosition | null,
): Promise<Sink> {
  if (rejects === null) return sink;
  try {
    const apart = resume?.rejects ?? null;
    const file = await openFileDestination(realPath(rejects.path), apart);
    const rejectsSink = textSink(formats[rejects.reading.format].rejects(rejects), file, {
      gzip: detectSinkFormat(rejects.path).gzip,
      resumeRows: apart?.rows ?? null,
    });
    return withRejects(sink, rejectsSink);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

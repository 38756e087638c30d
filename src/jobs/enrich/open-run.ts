import { v7 as timeOrderedId } from "uuid";
import { systemClock } from "../../core/clock.js";
import { addedColumns } from "../../core/columns.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { raceAbort } from "../../core/abort.js";
import { formatCount } from "../../core/wording/quantity.js";
import type { Encoder } from "../../io/formats/types.js";
import type { OpenedSource } from "../../io/input/types.js";
import type { Publisher } from "../../io/output/publisher.js";
import { textSink } from "../../io/output/text/text-sink.js";
import { formats } from "../../io/formats/registry.js";
import { takeFingerprint } from "./fingerprint.js";
import type { RunState } from "./state/run-state.js";
import type { OutputSettings } from "./options.js";
import type { Job, StartRow } from "./types.js";
import { announceReading, writtenColumns } from "./rows/reading.js";
import { Tally } from "./tally.js";
import type { OutputTarget } from "./destination/choose-output.js";
import { verdictOf } from "../../core/verdict.js";
import type { EnrichedRow, LeftOutReason, Row } from "../../core/row.js";
import {
  type Destination,
  openDevice,
  openFileDestination,
  streamDestination,
} from "../../io/output/part-file.js";
import { KnownItems } from "./rows/known-items.js";

/** A job, where it writes, and where it keeps the state for a resume. */
export interface RunPlace {
  readonly job: Job;
  readonly target: OutputTarget;
  /** In the folder of the staged rows. */
  readonly state: RunState;
  /** The input has grown since the run was interrupted. @default false */
  readonly inputGrew?: boolean;
}

/** A run with its input and output open, ready to move rows. */
export type OpenRun = Awaited<ReturnType<typeof openRun>>;

/** Opens a run's input and output, at the interrupted run's position or at the start. */
export async function openRun(place: RunPlace, stack: ResourceStack) {
  const run = await openRunInput(place, stack);
  return { ...run, ...(await openRunOutput(run)) };
}

async function openRunInput(place: RunPlace, stack: ResourceStack) {
  const { job, target, state, inputGrew = false } = place;
  const { session, settings, clock = systemClock } = job;
  /** Checkpoint to continue from; null for a new run. */
  const before = state.checkpoint;
  const fingerprint = await takeFingerprint(job, target);
  const runId = before?.runId ?? job.refill?.runId ?? job.runId ?? timeOrderedId();
  job.onRunId?.(runId);
  const opening = job.rows.open(before?.source ?? null);
  const source = await raceAbort(opening, job.signal, (late) => late.close());
  stack.use(source);
  const tally = new Tally(before?.tally);
  tally.hasMadeUp(session.service.madeUp);
  tally.hasMadeUp(job.refill?.madeUp);
  const withheld = await session.withheld(settings.lookup);
  tally.excludes(withheld.lists);
  tally.elsewhere.watch(source, withheld.isListed);
  announceReading(job, source);
  if (before !== null) {
    job.onNotice?.(`continuing at row ${formatCount(before.source.row + 1)}`);
  }
  const { columns, only: ofChosen, optional, prefix } = writtenColumns(job, source);
  const added = addedColumns(optional);
  const { esAction, esId } = settings.output;
  const shape = settings.output.shape ?? (target.format === "ndjson" ? "nested" : "flat");
  const delimiter = delimiterOf(target, source);
  const encoder = { columns, added, clock, delimiter, prefix, shape, esAction, esId } as const;
  const selection = selectRows(settings.output);
  const facts = { clock, runId, fingerprint, inputGrew, optional, before, withheld };
  return { ...place, ...facts, source, tally, encoder, ofChosen, selection };
}

/** Opens the output, once it is checked, or the stage of its rows. */
async function openRunOutput(run: Awaited<ReturnType<typeof openRunInput>>) {
  const { job, target, before, tally, encoder: options, ofChosen } = run;
  const onWarning = warnOnce(job, tally);
  const encode = (): Encoder => {
    const encoder = formats[target.text ?? "csv"].write(options);
    return job.refill?.encoder?.(encoder) ?? encoder;
  };
  const publisher = await openPublisher({ ...run, onWarning });
  const { stage, isCompressed: gzip } = publisher.describe();
  const checked = await raceAbort(publisher.check(encode), job.signal, () => undefined);
  const startAt = before?.sink ?? null;
  if (startAt === null) for (const message of checked.warnings ?? []) onWarning(message);
  const destination =
    stage === null ? await openStream(run) : await openFileDestination(stage, startAt);
  const resumeRows = startAt?.rows ?? null;
  const { encoder: whole } = checked;
  const encoder: Encoder = {
    header: whole.header,
    encode: (rows) => whole.encode(rows.map(ofChosen)),
  };
  // The caller finishes or abandons the sink; the stack closes the source.
  return { publisher, checked, sink: textSink(encoder, destination, { gzip, resumeRows }) };
}

/** CSV keeps the delimiter of its input, except a space: the columns of a log are no CSV. */
function delimiterOf({ format }: OutputTarget, { reading, kind }: OpenedSource) {
  const isCsv = reading.format === "csv" && format === "csv" && kind === undefined;
  return isCsv && reading.delimiter !== " " ? (reading.delimiter ?? undefined) : undefined;
}

interface PublishedPlace extends Omit<RunPlace, "inputGrew"> {
  readonly source: Pick<OpenedSource, "columns" | "types">;
  readonly runId: string;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** What publishes the rows of a run. @throws ReputeError */
export function openPublisher(run: PublishedPlace): Promise<Publisher> {
  const { job, target, state, source, runId, onWarning } = run;
  const { output, file, base, text: format } = target;
  const { name, gzip } = output;
  const { signal, clock = systemClock } = job;
  const { madeUp } = job.session.service;
  const rows = { ...writtenColumns(job, source), ...job.settings.output.table, runId };
  const text = format && { format, gzip, openStream: () => openStream(run) };
  const place = { name, file, base, folder: state.path, text };
  return output.publisher({ ...place, ...rows, clock, signal, madeUp, onWarning });
}

/** The job's signal aborts waiting for the reader of a named pipe. */
async function openStream({ job, target }: Omit<RunPlace, "state">): Promise<Destination> {
  const { name, isStdout } = target.output;
  return isStdout ? streamDestination(job.stdout, name) : openDevice(name, job.signal);
}

/** Counts each warning, and tells it once: the same one may occur for every row. */
function warnOnce({ onWarning }: Job, tally: Tally): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    tally.warning(message);
    if (told.has(message)) return;
    told.add(message);
    onWarning?.(message);
  };
}

/** Decides which rows are looked up and counted, but not written: `--only` and `--distinct`. */
function selectRows({ only, distinct }: OutputSettings) {
  if (only === undefined && !distinct) return null;
  const wanted: ReadonlySet<string> | null = only === undefined ? null : new Set(only);
  const seen = new KnownItems();
  const repeated = new WeakSet<Row>();
  return {
    /** Why a row is not written; null if it is. */
    leftOut: ({ row, finding }: EnrichedRow): LeftOutReason | null => {
      // First the answer: otherwise, the reasons would depend on how an input is divided.
      const names = [verdictOf(finding) ?? "unknown", finding.status];
      if (wanted !== null && !names.some((name) => wanted.has(name))) return "only";
      return repeated.has(row) ? "distinct" : null;
    },
    /** Notes, in the order of the input, which rows repeat an item or have none. */
    noting(start: StartRow): StartRow {
      return (row, signal) => {
        const started = start(row, signal);
        const { item } = started;
        if (distinct && (item === null || !seen.add(item))) repeated.add(row);
        return started;
      };
    },
  };
}

import { systemClock } from "../../../core/clock.js";
import type { EncoderOptions } from "../../../io/formats/types.js";
import type { OpenedSource } from "../../../io/input/types.js";
import { openDevice, streamDestination } from "../../../io/output/part-file.js";
import type { SinkSettings } from "../../../io/output/options.js";
import type { Publisher } from "../../../io/output/publisher.js";
import type { Destination } from "../../../io/output/types.js";
import { chosenColumns, optionalColumnsOf } from "../rows/reading.js";
import type { Job } from "../types.js";
import type { OutputTarget } from "./choose-output.js";

/** How a run's rows are encoded, in any format. CSV keeps the delimiter of its input. */
export function encoderOptions(
  { prefix, shape, esAction, esId }: Pick<SinkSettings, "prefix" | "shape" | "esAction" | "esId">,
  format: string,
  { reading, kind }: Pick<OpenedSource, "reading" | "kind">,
  rest: Pick<EncoderOptions, "columns" | "added" | "clock">,
): EncoderOptions {
  const flatOrNested = shape ?? (format === "ndjson" ? "nested" : "flat");
  const isCsv = reading.format === "csv" && format === "csv" && kind === undefined;
  // The columns of a log may be apart by spaces: no CSV.
  const delimiter =
    isCsv && reading.delimiter !== " " ? (reading.delimiter ?? undefined) : undefined;
  return { ...rest, delimiter, prefix, shape: flatOrNested, esAction, esId };
}

interface PublishedRun {
  readonly job: Job;
  readonly target: OutputTarget;
  /** In the folder of the staged rows that are no text. */
  readonly state: { readonly path: string };
  readonly source: Pick<OpenedSource, "columns" | "types">;
  readonly runId: string;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** What publishes the rows of a run. @throws ReputeError */
export function openPublisher(run: PublishedRun): Promise<Publisher> {
  const { job, target, state, source, runId, onWarning } = run;
  const { name, file, base, text: format, gzip } = target;
  const { signal, clock = systemClock } = job;
  const { prefix, table, inputColumns } = job.settings.output;
  const { columns, types } = chosenColumns(source, inputColumns);
  const optional = optionalColumnsOf(job);
  const { madeUp } = job.session.service;
  const rows = { columns, types, optional, prefix, ...table, runId };
  const text = format && { format, gzip, openStream: () => openStream(target, job) };
  const place = { name, file, base, folder: state.path, text };
  return target.output.publisher({ ...place, ...rows, clock, signal, madeUp, onWarning });
}

/** @param signal aborts waiting for the reader of a named pipe */
export async function openStream(
  { name, output }: Pick<OutputTarget, "name" | "output">,
  { stdout, signal }: Pick<Job, "stdout" | "signal">,
): Promise<Destination> {
  return output.isStdout ? streamDestination(stdout, name) : openDevice(name, signal);
}

import { join } from "node:path";
import { systemClock } from "../../../core/clock.js";
import type { Encoder, EncoderOptions } from "../../../io/formats/types.js";
import type { OpenedSource } from "../../../io/input/types.js";
import { openDevice, streamDestination } from "../../../io/output/part-file.js";
import type { SinkSettings } from "../../../io/output/options.js";
import type { Publisher } from "../../../io/output/publisher.js";
import { stagePath } from "../../../io/output/stage.js";
import { textPublisher } from "../../../io/output/text/text-sink.js";
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
  /** Makes the encoder of text. */
  readonly encode?: () => Encoder;
}

/** The rows of a run that wait to be published, without the suffix that they have as a part file. */
export function stageFile({ text, file }: OutputTarget, folder: string): string {
  return text === null || text === "stix" || file === null ? stagePath(folder) : file;
}

/** What publishes the rows of a run; null for text that goes to a stream. @throws ReputeError */
export async function openPublisher(run: PublishedRun): Promise<Publisher | null> {
  const { job, target, state, source, runId, onWarning, encode = noEncoder } = run;
  const { file, text, gzip, base } = target;
  const { signal, clock = systemClock } = job;
  if (text === "stix") {
    const { stixPublisher } = await import("../../../io/output/stix/publish.js");
    const stream = file === null ? await openStream(target, job) : null;
    const bundle = { runId, file: file ?? join(state.path, "bundle"), gzip, stream };
    return stixPublisher(bundle, encode);
  }
  if (text !== null) return file === null ? null : textPublisher(file, encode);
  const { publisher } = target.output;
  if (publisher === null || base === null) throw new TypeError("no output of typed columns");
  const { prefix, table } = job.settings.output;
  const { columns, types } = chosenColumns(source, job.settings.output.inputColumns);
  const optional = optionalColumnsOf(job);
  const { madeUp } = job.session.service;
  const rows = { columns, types, optional, prefix, ...table, runId };
  return publisher({ ...rows, clock, base, signal, madeUp, onWarning });
}

function noEncoder(): never {
  throw new TypeError("published rows are encoded already");
}

/** @param signal aborts waiting for the reader of a named pipe */
export async function openStream(
  { name, output }: Pick<OutputTarget, "name" | "output">,
  { stdout, signal }: Pick<Job, "stdout" | "signal">,
): Promise<Destination> {
  return output.isStdout ? streamDestination(stdout, name) : openDevice(name, signal);
}

import { constants, createWriteStream, openSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { raceAbort } from "../../../core/abort.js";
import { systemClock } from "../../../core/clock.js";
import { formats } from "../../../io/formats/registry.js";
import type { Encoder, EncoderOptions } from "../../../io/formats/types.js";
import type { OpenedSource } from "../../../io/input/types.js";
import { openFileDestination, streamDestination } from "../../../io/output/file-destination.js";
import type { SinkSettings } from "../../../io/output/options.js";
import { outputFault } from "../../../core/files/output-fault.js";
import type { Publication } from "../../../io/output/publication.js";
import { textSink } from "../../../io/output/text/text-sink.js";
import type { Destination, Sink, SinkPosition } from "../../../io/output/types.js";
import { optionalColumnsOf } from "../rows/reading.js";
import type { Job } from "../types.js";
import type { OutputTarget } from "./output-target.js";

/** How a run's rows are encoded, in any format. */
export function encoderOptions(
  { prefix, shape, esAction, esId }: Pick<SinkSettings, "prefix" | "shape" | "esAction" | "esId">,
  format: string,
  rest: Pick<EncoderOptions, "columns" | "added" | "clock" | "delimiter">,
): EncoderOptions {
  const flatOrNested = shape ?? (format === "ndjson" ? "nested" : "flat");
  return { ...rest, prefix, shape: flatOrNested, esAction, esId };
}

/** The delimiter that CSV keeps from its input. The columns of a log may be apart by spaces: no CSV. */
export function keptDelimiter(
  { reading: { format, delimiter }, kind }: Pick<OpenedSource, "reading" | "kind">,
  to: string,
): Pick<EncoderOptions, "delimiter"> {
  const keeps = format === "csv" && to === "csv" && kind === undefined;
  return keeps && delimiter !== null && delimiter !== " " ? { delimiter } : {};
}

interface PublishedRows {
  readonly source: Pick<OpenedSource, "columns" | "types">;
  readonly runId: string;
  /** Folder of the staged rows. */
  readonly stateFolder: string;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Checks where a run will be published. @throws ReputeError */
export function openPublication(
  job: Job,
  { base, output: place }: OutputTarget,
  { source: { columns, types }, onWarning, ...run }: PublishedRows,
): Promise<Publication> {
  const { signal, clock = systemClock } = job;
  const { output } = job.settings;
  const optional = optionalColumnsOf(job);
  if (place.open === null || base === null) throw new TypeError("text is not published");
  const opening = place.open({
    ...run,
    columns,
    types,
    optional,
    clock,
    base,
    signal,
    prefix: output.prefix,
    ...output.table,
    madeUp: job.session.service.madeUp,
    ...(onWarning && { onWarning }),
  });
  return raceAbort(opening, signal, () => undefined);
}

interface OpenSinkOptions extends StreamOptions {
  readonly encoder: EncoderOptions;
  /** Wraps the encoder of the output. */
  readonly wrapEncoder?: ((encoder: Encoder) => Encoder) | undefined;
  /** Position of the interrupted run, or null. */
  readonly startAt: SinkPosition | null;
}

/** Checks where a STIX bundle will be published, which rows are staged for. @throws ReputeError */
export async function openBundle(
  { file, gzip, name }: OutputTarget,
  { encoder, folder, ...rest }: Omit<OpenSinkOptions, "startAt"> & { folder: string },
): Promise<Publication> {
  const { publishStix } = await import("../../../io/output/stix/publish.js");
  const stream = file === null ? await openStream({ name }, rest) : null;
  return publishStix({ file: file ?? join(folder, "bundle"), gzip, stream }, encoder);
}

/** Opens the sink for a target, truncated to the checkpoint when resuming. */
export async function openSink(
  target: Pick<OutputTarget, "file" | "name" | "gzip" | "text">,
  options: OpenSinkOptions,
): Promise<Sink> {
  const plain = formats[target.text ?? "csv"].write(options.encoder);
  const encoder = options.wrapEncoder?.(plain) ?? plain;
  const { startAt } = options;
  const destination =
    target.file === null
      ? await openStream(target, options)
      : await openFileDestination(target.file, startAt);
  return textSink(encoder, destination, { gzip: target.gzip, resumeRows: startAt?.rows ?? null });
}

interface StreamOptions {
  readonly stdout: Writable;
  /** Aborts waiting for the reader of a named pipe. */
  readonly signal: AbortSignal;
}

async function openStream(
  { name }: Pick<OutputTarget, "name">,
  { stdout, signal }: StreamOptions,
): Promise<Destination> {
  return streamDestination(name === "stdout" ? stdout : await openDevice(name, signal), name);
}

/** How often to look for the reader of a named pipe, in milliseconds. */
const lookMs = 50;

async function openDevice(path: string, signal: AbortSignal): Promise<Writable> {
  // To open a pipe as a file is to block a thread until it has a reader.
  while (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw outputFault(path, error);
    }
    await systemClock.sleep(lookMs, signal);
  }
  const stream = createWriteStream(path);
  await new Promise<void>((resolve, reject) => {
    stream.once("open", () => resolve());
    stream.once("error", (error) => reject(outputFault(path, error)));
  });
  return stream;
}

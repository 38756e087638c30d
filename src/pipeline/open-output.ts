import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { UsageError } from "../core/errors.js";
import { openFileDestination } from "../sinks/file-destination.js";
import { outputFault } from "../sinks/output-fault.js";
import { detectSinkFormat, encoders } from "../sinks/registry.js";
import type { SinkSettings } from "../sinks/options.js";
import { streamDestination } from "../sinks/stream-destination.js";
import { textSink } from "../sinks/text-sink.js";
import { rejectsEncoder } from "../sinks/rejects-encoder.js";
import type { RejectsOptions } from "../sinks/rejects-encoder.js";
import type {
  Destination,
  Encoder,
  EncoderOptions,
  Sink,
  SinkFormat,
  SinkPosition,
} from "../sinks/types.js";
import { withRejects } from "../sinks/with-rejects.js";
import type { SourceFormat } from "../sources/types.js";
import { checkFolder, checkInputIsSafe, checkRejects, finalPath } from "./final-path.js";

/** Where the rows go: a file that appears by rename, or a stream that has no second chance. */
export interface OutputTarget {
  /** Final path of a regular file, symbolic links followed; null for stdout and devices. */
  readonly file: string | null;
  /** What to call it. */
  readonly name: string;
  readonly format: SinkFormat;
  readonly gzip: boolean;
}

/**
 * Decides what `-o` means, and checks that `--rejects` is in nobody's way.
 *
 * @throws UsageError `output_is_directory`, `output_folder_missing`, `output_is_input`; as `checkRejects`
 */
export async function chooseOutput(
  output: string,
  settings: SinkSettings,
  inputFormat: SourceFormat,
  inputPath: string | null,
): Promise<OutputTarget> {
  const target = await chooseTarget(output, settings, inputFormat, inputPath);
  const { rejects } = settings;
  if (rejects !== undefined) await checkRejects(rejects, target.file, inputPath);
  return target;
}

async function chooseTarget(
  output: string,
  settings: SinkSettings,
  inputFormat: SourceFormat,
  inputPath: string | null,
): Promise<OutputTarget> {
  const detected = output === "-" ? { format: null, gzip: false } : detectSinkFormat(output);
  const format = settings.to ?? detected.format ?? (inputFormat === "ndjson" ? "ndjson" : "csv");
  if (output === "-") return { file: null, name: "stdout", format, gzip: false };

  const facts = await stat(output).catch(() => null);
  if (facts?.isDirectory()) {
    throw new UsageError("output_is_directory", `the output ${output} is a directory`, {
      hint: "name a file",
    });
  }
  if (facts !== null && !facts.isFile()) {
    return { file: null, name: output, format, gzip: detected.gzip };
  }
  const file = await finalPath(output);
  await checkFolder(file);
  await checkInputIsSafe(output, file, inputPath);
  return { file, name: output, format, gzip: detected.gzip };
}

export interface OpenSinkOptions {
  readonly encoder: EncoderOptions;
  /** Changes how rows are written, where the work needs it. */
  readonly wrapEncoder?: ((encoder: Encoder) => Encoder) | undefined;
  readonly stdout: Writable;
  /** Where an interrupted run got to, or null. */
  readonly resume: SinkPosition | null;
  /** File for rejected rows and the form that they came in; null for none. */
  readonly rejects: (RejectsOptions & { readonly path: string }) | null;
}

/** Opens the sink for a target, cut back to a checkpoint where there is one. */
export async function openSink(target: OutputTarget, options: OpenSinkOptions): Promise<Sink> {
  const plain = encoders[target.format](options.encoder);
  const encoder = options.wrapEncoder?.(plain) ?? plain;
  const { resume, rejects } = options;
  const destination = await openDestination(target, options.stdout, resume);
  const resumeRows = resume?.rows ?? null;
  const sink = textSink(encoder, destination, { gzip: target.gzip, resumeRows });
  if (rejects === null) return sink;
  try {
    const apart = resume?.rejects ?? null;
    const file = await openFileDestination(await finalPath(rejects.path), apart?.length ?? null);
    const rejectsSink = textSink(rejectsEncoder(rejects), file, {
      gzip: detectSinkFormat(rejects.path).gzip,
      resumeRows: apart?.rows ?? null,
    });
    return withRejects(sink, rejectsSink);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

async function openDestination(
  target: OutputTarget,
  stdout: Writable,
  resume: SinkPosition | null,
): Promise<Destination> {
  if (target.file !== null) return openFileDestination(target.file, resume?.length ?? null);
  const stream = target.name === "stdout" ? stdout : await openDevice(target.name);
  return streamDestination(stream, target.name);
}

async function openDevice(path: string): Promise<Writable> {
  const stream = createWriteStream(path);
  await new Promise<void>((resolve, reject) => {
    stream.once("open", () => resolve());
    stream.once("error", (error) => reject(outputFault(path, error)));
  });
  return stream;
}

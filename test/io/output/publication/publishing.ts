import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { openFileDestination, type SinkPosition } from "../../../../src/io/output/part-file.js";
import type {
  CheckedOutput,
  Publisher,
  PublisherOptions,
} from "../../../../src/io/output/publisher.js";
import { type Stage, stageUpTo } from "../../../../src/io/output/stage.js";
import { formats } from "../../../../src/io/formats/registry.js";
import { type Encoder, type SinkFormat, sinkFormats } from "../../../../src/io/formats/types.js";
import { type Sink, textSink } from "../../../../src/io/output/text/text-sink.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import type { ReputeError } from "../../../../src/core/errors.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** When rows are published. */
export const publishedAt = "2026-01-02T03:05:00Z";

const publishedNow: Clock = { ...systemClock, now: () => Date.parse(publishedAt) };

/** Publishes a new run with its state folder in `folder`. Text has its format as extension. */
export async function openPlace(
  output: string,
  folder: string,
  members: Partial<PublisherOptions> = {},
): Promise<Publisher> {
  const state = join(folder, "state");
  await mkdir(state, { recursive: true });
  const { publisher, name, file, gzip } = parseOutput(output);
  const format = formatOf(output);
  return publisher({
    name,
    file,
    base: join(folder, "base"),
    folder: state,
    text: format === null ? null : { format, gzip, openStream: () => expect.unreachable() },
    columns: ["ip"],
    prefix: "rep_",
    runId: "00000000-0000-4000-8000-000000000001",
    clock: publishedNow,
    ...members,
  });
}

function formatOf(output: string): SinkFormat | null {
  const words = basename(output).split(".");
  return sinkFormats.find((name) => words.includes(name)) ?? null;
}

/** Checks an output as a run does before its first request. */
export async function checkOutput(
  output: string,
  members: Partial<PublisherOptions> = {},
  folder?: string,
): Promise<CheckedOutput> {
  const publisher = await openPlace(output, folder ?? (await temporaryFolder()), members);
  return publisher.check(() => expect.unreachable());
}

/** The error of what has to be refused. */
export async function refusalOf(trial: Promise<unknown>): Promise<ReputeError> {
  return trial.then(
    () => expect.unreachable("nothing was refused"),
    (error: unknown) => error as ReputeError,
  );
}

/** A sink of staged rows, and what publishes them. */
export interface StagedSink extends Pick<Sink, "write" | "checkpoint" | "abandon"> {
  /** Publishes the rows so far. */
  publish(suffix?: string, manifest?: Manifest | null): ReturnType<Publisher["publish"]>;
}

export async function openRun(
  output: string,
  folder: string,
  members: Partial<PublisherOptions> = {},
  resume: SinkPosition | null = null,
): Promise<{ readonly publisher: Publisher; readonly sink: StagedSink }> {
  const publisher = await openPlace(output, folder, members);
  const { columns = ["ip"], prefix = "rep_", text, clock } = members;
  const format = text?.format ?? formatOf(output) ?? "csv";
  const shape = format === "ndjson" ? "nested" : "flat";
  const encode = () => formats[format].write({ columns, prefix, shape });
  return { publisher, sink: await openStage(publisher, encode, resume, clock) };
}

/** Checks where a run's rows will be published, and opens their stage. */
async function openStage(
  publisher: Publisher,
  encode: () => Encoder,
  resume: SinkPosition | null,
  clock: Clock = publishedNow,
): Promise<StagedSink> {
  const { encoder } = await publisher.check(encode);
  const { stage: path, isCompressed: gzip } = publisher.describe();
  const file = await openFileDestination(path!, resume);
  const resumeRows = resume?.rows ?? null;
  const sink = textSink(encoder, file, { gzip, resumeRows });
  onTestFinished(() => sink.abandon());
  return {
    ...sink,
    async publish(suffix = "", manifest = null) {
      const stage = stageUpTo(path!, await sink.checkpoint());
      return publisher.publish(stage, { suffix, at: clock.now(), manifest: () => manifest });
    },
  };
}

/** The staged rows of an output. */
export function stageOf(publisher: Publisher, position: SinkPosition): Stage {
  return stageUpTo(publisher.describe().stage!, position);
}

export const noManifest = { suffix: "", at: Date.parse(publishedAt), manifest: () => null };

/** Publishes rows as a run does. */
export async function publishRows(
  output: string,
  folder: string,
  rows: readonly EnrichedRow[],
  members: Partial<PublisherOptions> = {},
): ReturnType<Publisher["publish"]> {
  const { sink } = await openRun(output, folder, members);
  await sink.write(rows);
  const written = await sink.publish();
  await sink.abandon();
  return written;
}

/** Rows by number; their only input cell is `cell N`. */
export function someRows(from: number, to: number): readonly EnrichedRow[] {
  return someCells(from, to).map((cell, index) =>
    anEnrichedRow({ number: from + index, cells: [cell] }),
  );
}

export function someCells(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `cell ${from + index}`);
}

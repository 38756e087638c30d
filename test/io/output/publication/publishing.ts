import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { openFileDestination } from "../../../../src/io/output/part-file.js";
import type {
  CheckedOutput,
  Publisher,
  PublisherOptions,
} from "../../../../src/io/output/publisher.js";
import { type Stage, stagePath, stageUpTo } from "../../../../src/io/output/stage.js";
import { formats } from "../../../../src/io/formats/registry.js";
import { sinkFormats } from "../../../../src/io/formats/types.js";
import { textPublisher, textSink } from "../../../../src/io/output/text/text-sink.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import type { Sink, SinkPosition, WrittenOutput } from "../../../../src/io/output/types.js";
import type { ReputeError } from "../../../../src/core/errors.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** When rows are published. */
export const publishedAt = "2026-01-02T03:05:00Z";

const publishedNow: Clock = { ...systemClock, now: () => Date.parse(publishedAt) };

/** Options of a new run with its state folder in `folder`. */
async function someOptions(
  folder: string,
  members: Partial<PublisherOptions> = {},
): Promise<PublisherOptions> {
  await mkdir(join(folder, "state"), { recursive: true });
  return {
    columns: ["ip"],
    prefix: "rep_",
    runId: "00000000-0000-4000-8000-000000000001",
    base: join(folder, "base"),
    clock: publishedNow,
    ...members,
  };
}

/** What publishes an output; that of text has its format as extension. */
export async function openPlace(
  output: string,
  folder: string,
  members: Partial<PublisherOptions> = {},
): Promise<Publisher> {
  const options = await someOptions(folder, members);
  const { publisher, file } = parseOutput(output);
  if (publisher !== null) return publisher(options);
  const { columns, prefix } = options;
  const format = sinkFormats.find((name) => basename(output).split(".").includes(name))!;
  const shape = format === "ndjson" ? "nested" : "flat";
  return textPublisher(file!, () => formats[format].write({ columns, prefix, shape }));
}

/** The rows that wait to be published, without the suffix that they have as a part file. */
function stageOf(output: string, folder: string): string {
  const { publisher, file } = parseOutput(output);
  return publisher === null ? file! : stagePath(join(folder, "state"));
}

/** Checks an output as a run does before its first request. */
export async function checkOutput(
  output: string,
  members: Partial<PublisherOptions> = {},
  folder?: string,
): Promise<CheckedOutput> {
  return (await openPlace(output, folder ?? (await temporaryFolder()), members)).check();
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
  publish(suffix?: string, manifest?: Manifest | null): Promise<WrittenOutput>;
}

/** Checks where a run's rows will be published, and opens their stage. */
export async function openStage(
  publisher: Publisher,
  path: string,
  resume: SinkPosition | null,
  clock: Clock = publishedNow,
): Promise<StagedSink> {
  const { encoder } = await publisher.check();
  const file = await openFileDestination(path, resume);
  const resumeRows = resume?.rows ?? null;
  const sink = textSink(encoder, file, { gzip: path.endsWith(".gz"), resumeRows });
  onTestFinished(() => sink.abandon());
  return {
    ...sink,
    async publish(suffix = "", manifest = null) {
      const stage = stageUpTo(path, await sink.checkpoint());
      return publisher.publish(stage, { suffix, at: clock.now(), manifest: () => manifest });
    },
  };
}

export async function openRun(
  output: string,
  folder: string,
  members: Partial<PublisherOptions> = {},
  resume: SinkPosition | null = null,
): Promise<{ readonly publisher: Publisher; readonly sink: StagedSink }> {
  const publisher = await openPlace(output, folder, members);
  const sink = await openStage(publisher, stageOf(output, folder), resume, members.clock);
  return { publisher, sink };
}

/** The staged rows of an output in a folder of a test. */
export function stageIn(output: string, folder: string, position: SinkPosition): Stage {
  return stageUpTo(stageOf(output, folder), position);
}

export const noManifest = { suffix: "", at: Date.parse(publishedAt), manifest: () => null };

/** Publishes rows as a run does. */
export async function publishRows(
  output: string,
  folder: string,
  rows: readonly EnrichedRow[],
  members: Partial<PublisherOptions> = {},
): Promise<WrittenOutput> {
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

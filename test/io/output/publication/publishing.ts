import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { openStage, type StagedSink } from "../../../../src/io/output/staged-sink.js";
import type { Publication, PublicationOptions } from "../../../../src/io/output/publication.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import type { SinkPosition, WrittenOutput } from "../../../../src/io/output/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";

/** When rows are published. */
export const publishedAt = "2026-01-02T03:05:00Z";

const publishedNow: Clock = { ...systemClock, now: () => Date.parse(publishedAt) };

/** Options of a new run with its state folder in `folder`. */
export async function someOptions(
  folder: string,
  members: Partial<PublicationOptions> = {},
): Promise<PublicationOptions> {
  const stateFolder = join(folder, "state");
  await mkdir(stateFolder, { recursive: true });
  return {
    columns: ["ip"],
    prefix: "rep_",
    runId: "00000000-0000-4000-8000-000000000001",
    stateFolder,
    base: join(folder, "base"),
    clock: publishedNow,
    ...members,
  };
}

/** Checks where a run's rows will be published. */
export async function openPlace(
  output: string,
  folder: string,
  members: Partial<PublicationOptions> = {},
): Promise<Publication> {
  return parseOutput(output).open!(await someOptions(folder, members));
}

/** Checks where a run's rows will be published, and opens their stage. */
export async function openRun(
  output: string,
  folder: string,
  members: Partial<PublicationOptions> = {},
  resume: SinkPosition | null = null,
): Promise<{ publication: Publication; sink: StagedSink }> {
  const publication = await openPlace(output, folder, members);
  return { publication, sink: await openStage(publication, join(folder, "state"), resume) };
}

/** Publishes rows as a run does. */
export async function publishRows(
  output: string,
  folder: string,
  rows: readonly EnrichedRow[],
  members: Partial<PublicationOptions> = {},
): Promise<WrittenOutput | null> {
  const { sink } = await openRun(output, folder, members);
  await sink.write(rows);
  const audit = await sink.prepare("");
  await sink.finish();
  return audit;
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

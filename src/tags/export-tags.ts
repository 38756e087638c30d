import pLimit from "p-limit";
import { ExportFolder } from "./folder/export-folder.js";
import {
  type ExportedTag,
  exportedTags,
  type ExportIndex,
  hasList,
  type IndexedTag,
  indexSchemaVersion,
} from "./folder/export-index.js";
import { FileStems } from "./folder/file-stems.js";
import type { ServiceError } from "../api/status-fault.js";
import { exportTag, failWithoutRequest, resultOf, type TagOutcome } from "./export-tag.js";
import { loadParquetWriter } from "./list-formats/registry.js";
import { ExportState } from "./export-state.js";
import type { ExportReport, ExportTagsOptions, TagResult } from "./types.js";

/**
 * Exports the IP lists of tags to a folder (layout: see `ExportFolder`). A tag that cannot be
 * exported yields a failed result and keeps its earlier list. The folder changes once, after all
 * tags are done.
 *
 * @throws UsageError if the folder is not fit for exports, another export is writing there, or a
 *   format needs a missing package; FatalError (credentials refused, disk full) or the signal's
 *   reason: the folder is unchanged, and the next call continues from the pages already read
 */
export async function exportTags(options: ExportTagsOptions): Promise<ExportReport> {
  // Report a missing package before reading anything.
  if (options.formats?.includes("parquet")) await loadParquetWriter();
  const folder = await ExportFolder.open(options.folder);
  const state = await ExportState.open(options.folder, options);
  try {
    const current = await folder.current();
    await folder.tidy(current, state.scratchFolder);
    const names = new Set<string>();
    for await (const name of options.names) names.add(name);
    const job = { options, folder, state, current, names };
    return (await reportOfKilledRun(job)) ?? (await run(job));
  } finally {
    await state.release();
  }
}

/**
 * This many tags in a row that fail after all their retries mean that the service is down. The
 * remaining tags then fail at once: retrying thousands of them would take a day.
 */
const maxFaultsInRow = 8;

interface Run {
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly state: ExportState;
  readonly current: ExportIndex | null;
  readonly names: ReadonlySet<string>;
}

/**
 * The report of this run's export, if it was killed after its lists were published; otherwise null.
 */
async function reportOfKilledRun({
  options,
  state,
  current,
  names,
}: Run): Promise<ExportReport | null> {
  if (options.runId === undefined || current?.run_id !== options.runId) return null;
  const there = new Map(exportedTags(current).map((tag) => [tag.name, tag]));
  const tags: TagResult[] = [];
  for (const name of names) {
    const tag = there.get(name);
    if (tag?.status !== "exported" && tag?.status !== "unchanged") return null;
    tags.push(resultOf(tag));
    await state.forget(name);
  }
  return reportOf(options.folder, current.generation, tags, there.size - tags.length);
}

function reportOf(
  folder: string,
  generation: string | null,
  tags: readonly TagResult[],
  kept: number,
): ExportReport {
  const count = (status: TagResult["status"]): number =>
    tags.filter((result) => result.status === status).length;
  const [exported, unchanged, failed] = [count("exported"), count("unchanged"), count("failed")];
  return { folder, generation, tags, exported, unchanged, failed, kept };
}

async function run(job: Run): Promise<ExportReport> {
  const { options, current } = job;
  const before = new Map(exportedTags(current).map((tag) => [tag.name, tag]));
  const done = await exportAll(job, before);
  const others = [...before.values()].filter((tag) => !job.names.has(tag.name));
  const generation = await publish(job, done, others);
  const tags = done.map(({ entry }) => resultOf(entry));
  return reportOf(options.folder, generation, tags, options.prune ? 0 : others.length);
}

/** Exports the tags in parallel. A fault that concerns all of them ends the export. */
async function exportAll(
  { options, folder, state, names }: Run,
  tagsBefore: ReadonlyMap<string, ExportedTag>,
): Promise<TagOutcome[]> {
  const stems = new FileStems([...tagsBefore.values()]);
  const oneList = pLimit(1);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  let faultsInRow = 0;
  let lastFault: ServiceError | null = null;
  const exportOne = async (name: string): Promise<TagOutcome> => {
    try {
      signal.throwIfAborted();
      const before = tagsBefore.get(name) ?? null;
      const context = { options, folder, state, before, stems, oneList };
      const outcome =
        lastFault !== null && faultsInRow >= maxFaultsInRow
          ? failWithoutRequest(name, lastFault, context)
          : await exportTag(name, signal, context);
      lastFault = outcome.passingFault;
      faultsInRow = lastFault === null ? 0 : faultsInRow + 1;
      return outcome;
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  };
  const limit = pLimit(options.parallel ?? 4);
  const ends = await Promise.allSettled(Array.from(names, (name) => limit(exportOne, name)));
  signal.throwIfAborted();
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}

/** Publishes the next generation, if it differs from the current one. */
async function publish(
  { options, folder, state, current }: Run,
  done: readonly TagOutcome[],
  others: readonly ExportedTag[],
): Promise<string | null> {
  const { clock, prune = false } = options;
  const isNews = done.some(({ entry }) => entry.status !== "failed");
  const isOther = current === null || (prune && others.length > 0);
  if (!isNews && !(isOther && done.length === 0)) return null;
  const kept = prune ? [] : others.map((tag) => ({ ...tag, status: "kept" as const, error: null }));
  const tags: IndexedTag[] = [];
  for (const tag of [...done.map(({ entry }) => entry), ...kept]) {
    const isEarlier = hasList(tag) && (tag.status === "failed" || tag.status === "kept");
    if (
      !isEarlier ||
      (await folder.generations.carryOver(current!.generation, tag, state.nextFolder))
    ) {
      tags.push(tag);
    } else {
      options.onWarning?.(`the earlier list of tag ${tag.name} is gone from ${options.folder}`);
      if (tag.error) tags.push({ name: tag.name, status: "failed", error: tag.error });
    }
  }
  const now = clock.now();
  const index: ExportIndex = {
    schema: indexSchemaVersion,
    exported_at: new Date(now).toISOString(),
    ...(options.runId === undefined ? {} : { run_id: options.runId }),
    generation: await folder.generations.nameFor(now),
    previous_generation: current?.generation ?? null,
    tags: tags.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
  await folder.publish(state.nextFolder, index, state.scratchFolder);
  await folder.tidy(index, state.scratchFolder);
  for (const { entry } of done) if (entry.status !== "failed") await state.forget(entry.name);
  return index.generation;
}

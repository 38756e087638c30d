import { join } from "node:path";
import pLimit from "p-limit";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import {
  type ExportedTag,
  exportedTags,
  exportFault,
  ExportFolder,
  type ExportIndex,
  hasList,
  listName,
} from "./export-folder.js";
import { ServiceError } from "../../client/api/status-fault.js";
import { type ExportTagsOptions, noList, TagExportError, type TagResult } from "./options.js";
import { type AddressList, addressCount, readAddresses, sortedList } from "./address-list.js";
import { setNames, writeFormats } from "./formats.js";
import { exportTag } from "./export-tag.js";

type IndexedTag = ExportIndex["tags"][number];

interface Job {
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly current: ExportIndex | null;
  readonly names: ReadonlySet<string>;
  readonly before: ReadonlyMap<string, ExportedTag>;
}

/**
 * Exports the IP lists of tags to a folder (layout: see `ExportFolder`). A tag that cannot be
 * exported yields a failed result and keeps its earlier list. The folder changes once, after all
 * tags are done.
 *
 * @throws UsageError if the folder is not fit for exports, or another export is writing there;
 *   FatalError (credentials refused, disk full) or the signal's reason: the folder is unchanged
 */
export async function exportTags(options: ExportTagsOptions) {
  const folder = await ExportFolder.open(options.folder);
  try {
    const current = await folder.current();
    await folder.tidy(current);
    const { combine } = options;
    if (combine !== undefined && !(await folder.canUse(combine))) {
      const message = `${join(options.folder, combine)}.* exists and does not belong to an export`;
      throw new UsageError("file_name_taken", message, { hint: "choose another --combine NAME" });
    }
    const names = new Set(options.names);
    const before = new Map(exportedTags(current).map((tag) => [tag.name, tag]));
    const job = { options, folder, current, names, before };
    if (isDone(job)) {
      const tags = Array.from(names, (name) => before.get(name)!);
      return reportOf(options, current, tags, before.size - tags.length);
    }
    const done = await exportAll(job);
    const others = [...before.values()].filter((tag) => !names.has(tag.name));
    const index = await publish(job, done, others);
    return reportOf(options, index, done, options.prune ? 0 : others.length);
  } catch (error) {
    throw exportFault(options.folder, error);
  } finally {
    await folder.release();
  }
}

/** Whether this run's export is already there: it was killed after its lists were published. */
function isDone({ options: { runId }, current, names, before }: Job): boolean {
  if (runId === undefined || current?.run_id !== runId) return false;
  const isExported = (status?: string) => status === "exported" || status === "unchanged";
  return [...names].every((name) => isExported(before.get(name)?.status));
}

export type ExportReport = Awaited<ReturnType<typeof exportTags>>;

/** The folder is unchanged if no generation was made, because no tag was exported or requested. */
function reportOf(
  { folder }: ExportTagsOptions,
  index: ExportIndex | null,
  indexed: readonly IndexedTag[],
  kept: number,
) {
  const { generation = null, combined: all } = index ?? {};
  const combined = all ? { name: all.name, total: all.total, files: fileNames(all) } : null;
  const tags = indexed.map(resultOf);
  const counts = { exported: 0, unchanged: 0, failed: 0 };
  for (const { status } of tags) counts[status]++;
  return { folder, generation, combined, tags, ...counts, kept };
}

function fileNames({ files }: Pick<ExportedTag, "files">): string[] {
  return files.map(({ file }) => file);
}

function resultOf(tag: IndexedTag): TagResult {
  const { name, status, error } = tag;
  if (!hasList(tag) || status === "failed") return { name, ...noList, error };
  const { snapshot, total, added, removed } = tag;
  const files = fileNames(tag);
  const unchanged = status === "unchanged" ? status : "exported";
  return { name, status: unchanged, error: null, snapshot, total, added, removed, files };
}

/**
 * This many tags in a row that fail after all their retries mean that the service is down. The
 * remaining tags then fail at once: retrying thousands of them would take a day.
 */
const maxFaultsInRow = 8;

/** Exports the tags in parallel. A fault that concerns all of them ends the export. */
async function exportAll({ names, before, ...job }: Job): Promise<IndexedTag[]> {
  const { options } = job;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  let faultsInRow: readonly ServiceError[] = [];
  const exportOne = async (name: string): Promise<IndexedTag> => {
    const earlier = before.get(name) ?? null;
    const failed = (fault: ReputeError): IndexedTag => {
      options.onFault?.(name, fault);
      const error = { code: fault.code, message: fault.message };
      return { ...(earlier ?? { name }), status: "failed", error };
    };
    const last = faultsInRow.at(-1);
    if (last !== undefined && faultsInRow.length >= maxFaultsInRow) {
      return failed(new TagExportError(last.code, `${notAsked}: ${last.message}`));
    }
    try {
      signal.throwIfAborted();
      const tag = await exportTag({ ...job, name, signal, before: earlier });
      faultsInRow = [];
      return tag;
    } catch (error) {
      const isOfTag = error instanceof ServiceError || error instanceof TagExportError;
      if (signal.aborted || !isOfTag) {
        stop.abort(error);
        throw error;
      }
      // After all retries, the service is down or answers with errors.
      const mayPass = error instanceof ServiceError && error.again !== null;
      faultsInRow = mayPass ? [...faultsInRow, error] : [];
      return failed(error);
    }
  };
  const limit = pLimit(options.parallel ?? 4);
  const ends = await Promise.allSettled(Array.from(names, (name) => limit(exportOne, name)));
  signal.throwIfAborted();
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}

const notAsked = "not requested because all tags before it failed; the last error was";

async function publish(job: Job, done: readonly IndexedTag[], others: readonly ExportedTag[]) {
  const { options, folder, current, names } = job;
  const { clock, prune = false, runId } = options;
  const isNews = done.some(({ status }) => status !== "failed");
  const isOther = current === null || (prune && others.length > 0);
  if (!isNews && !(isOther && done.length === 0)) return null;
  const kept = prune ? [] : others.map((tag) => ({ ...tag, status: "kept" as const, error: null }));
  const tags: IndexedTag[] = [];
  for (const tag of [...done, ...kept]) {
    const isEarlier = hasList(tag) && (tag.status === "failed" || tag.status === "kept");
    if (!isEarlier || (await folder.carryOver(current!.generation, tag))) {
      tags.push(tag);
      continue;
    }
    options.onWarning?.(`the earlier list of tag ${tag.name} is gone from ${options.folder}`);
    if (tag.error) tags.push({ name: tag.name, status: "failed", error: tag.error });
  }
  const { combine } = options;
  const lists = tags.filter((tag) => hasList(tag)).filter(({ name }) => names.has(name));
  const combined =
    combine === undefined ? undefined : await writeCombined(combine, lists, folder.next, options);
  const now = clock.now();
  const index: ExportIndex = {
    schema: 1,
    exported_at: new Date(now).toISOString(),
    run_id: runId,
    generation: await folder.generationName(now),
    previous_generation: current?.generation ?? null,
    combined,
    tags: tags.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
  await folder.publish(index);
  await folder.tidy(index);
  return index;
}

/**
 * Writes the lists of tags together, without duplicates, in every format of the export.
 *
 * @param into the generation under construction, which has the list of each tag
 */
async function writeCombined(
  name: string,
  tags: readonly ExportedTag[],
  into: string,
  { formats }: ExportTagsOptions,
): Promise<NonNullable<ExportIndex["combined"]>> {
  const pages: AddressList[] = [];
  for (const tag of tags) {
    const list = await readAddresses(join(into, listName(tag.stem)), tag.total);
    if (list === null) {
      const message = `cannot combine the lists: that of tag ${tag.name} cannot be read`;
      throw new FatalError("list_unreadable", message, { hint: "export the tag again" });
    }
    pages.push(list);
  }
  const list = sortedList(pages);
  const sets = setNames(name, name);
  const files = await writeFormats(join(into, name), list, { tag: name, sets }, formats);
  return { name, total: addressCount(list), sets, files };
}

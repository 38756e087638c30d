import { join } from "node:path";
import type { LimitFunction } from "p-limit";
import type { TagIps } from "../api/schema/tag.js";
import { ServiceError } from "../api/status-fault.js";
import { difference, sizeOf, sortAddresses, type ReadAddresses } from "./address/address-list.js";
import { finishTag } from "./finish-tag.js";
import type { ExportFolder } from "./folder/export-folder.js";
import { type ExportedTag, hasList, type IndexedTag } from "./folder/export-index.js";
import type { FileStems } from "./folder/file-stems.js";
import type { Withheld } from "../lookup/withheld.js";
import { hasSameRules, leaveOut, leftOutSize } from "./left-out.js";
import { readTag } from "./read-tag.js";
import type { ExportState } from "./export-state.js";
import { TagExportError } from "./faults.js";
import type { ExportTagsOptions, TagProgress, TagResult } from "./types.js";

export interface TagContext {
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly state: ExportState;
  /** The tag in the current export; null if it is not there. */
  readonly before: ExportedTag | null;
  readonly stems: FileStems;
  /** Admits one list into memory at a time, however many tags are read in parallel. */
  readonly oneList: LimitFunction;
}

export interface TagOutcome {
  /** As recorded in the index; {@link resultOf} tells the caller. */
  readonly entry: IndexedTag;
  /** The fault after all retries, if it may pass: the service is down or answers with errors. */
  readonly passingFault: ServiceError | null;
}

/**
 * Reads a tag's list and writes its files to the generation under construction.
 *
 * @throws FatalError or the signal's reason; a fault of this tag alone yields a failed outcome
 */
export async function exportTag(
  name: string,
  signal: AbortSignal,
  context: TagContext,
): Promise<TagOutcome> {
  const report = progressReporter(name, context.options);
  try {
    const entry = await readAndWrite(name, signal, context, report);
    report({ state: entry.status === "unchanged" ? "unchanged" : "exported", total: entry.total });
    return { entry, passingFault: null };
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof ServiceError || error instanceof TagExportError)) throw error;
    // Keep the pages for the next export if the fault may pass.
    const isPassing = error instanceof ServiceError && error.again !== null;
    if (!isPassing) await context.state.forget(name);
    report({ state: "failed", error });
    return failed(name, error, context.before, isPassing ? error : null);
  }
}

/** What the index says about a tag, as reported to the caller. */
export function resultOf(tag: IndexedTag): TagResult {
  const { name, status, error } = tag;
  if (!hasList(tag) || status === "failed") {
    const nothing = { snapshot: null, total: null, added: null, removed: null, files: [] };
    return { name, status: "failed", error, ...nothing };
  }
  const { snapshot, total, added, removed } = tag;
  const files = tag.files.map(({ file }) => file);
  const unchanged = status === "unchanged" ? "unchanged" : "exported";
  return { name, status: unchanged, error: null, snapshot, total, added, removed, files };
}

/** Fails a tag without a request, because all tags before it failed with this fault. */
export function failWithoutRequest(
  name: string,
  fault: ServiceError,
  { options, before }: TagContext,
): TagOutcome {
  const error = new TagExportError(
    fault.code,
    `not requested because all tags before it failed; the last error was: ${fault.message}`,
  );
  progressReporter(name, options)({ state: "failed", error });
  return failed(name, error, before, fault);
}

async function readAndWrite(
  name: string,
  signal: AbortSignal,
  { options, folder, state, before, stems, oneList }: TagContext,
  report: ReportProgress,
): Promise<ExportedTag> {
  if (name === "") throw new TagExportError("invalid_tag_name", "a tag's name must not be empty");
  const stem = stems.of(name);
  if (!(await folder.canUse(stem))) {
    throw new TagExportError(
      "file_name_taken",
      `${join(folder.path, stem)}.* exists and does not belong to an export`,
      { hint: "move it away, or export to another folder" },
    );
  }
  const reading = await readTag({
    name,
    client: options.client,
    state,
    clock: options.clock,
    signal,
    begun: await state.resume(name, before),
    isKnown: (first, addresses) =>
      oneList(() => isKnown(first, addresses, before, folder, options.withheld)),
    onPage: ({ pages, entries, pin: { total } }) =>
      report({ state: "reading", pages, entries, total }),
  });
  return oneList(async () => {
    signal.throwIfAborted();
    report({ state: "writing" });
    const list = before && (await folder.listOf(before));
    if (before && !list) {
      options.onWarning?.(
        `cannot read the earlier list of tag ${name}: added and removed addresses are counted as for a first export`,
      );
    }
    return finishTag({
      name,
      reading,
      before: before && list && { tag: before, list },
      stem,
      into: state.nextFolder,
      options,
    });
  });
}

/**
 * True if the folder already has this list, which its snapshot identifies. Also checks that the
 * first page's addresses are in the stored list, in case the service reuses a snapshot token.
 */
async function isKnown(
  first: TagIps,
  addresses: ReadAddresses,
  before: ExportedTag | null,
  folder: ExportFolder,
  withheld: Withheld,
): Promise<boolean> {
  if (first.snapshot !== before?.snapshot || first.lastUpdate !== before.lastUpdate) return false;
  const { left_out: leftOut, total } = before;
  if (first.total !== total + leftOutSize(leftOut) || !hasSameRules(leftOut, withheld))
    return false;
  const list = await folder.listOf(before);
  if (list === null || sizeOf(list) !== total) return false;
  const page = leaveOut(sortAddresses(addresses.v4.slice(), addresses.v6.slice()), withheld);
  return sizeOf(difference(page.list, list)) === 0;
}

type ReportProgress = (change: Partial<TagProgress>) => void;

/** Reports the progress of a tag. Members missing from a change keep their value. */
function progressReporter(tag: string, { onProgress }: ExportTagsOptions): ReportProgress {
  let progress: TagProgress = {
    tag,
    state: "reading",
    pages: 0,
    entries: 0,
    total: null,
    error: null,
  };
  return (change) => {
    progress = { ...progress, ...change };
    onProgress?.(progress);
  };
}

function failed(
  name: string,
  { code, message }: ServiceError | TagExportError,
  before: ExportedTag | null,
  passingFault: ServiceError | null,
): TagOutcome {
  const status = "failed";
  const error = { code, message };
  return { entry: before ? { ...before, status, error } : { name, status, error }, passingFault };
}

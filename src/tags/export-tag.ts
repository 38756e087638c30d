import { join } from "node:path";
import type { LimitFunction } from "p-limit";
import type { TagIps } from "../api/schema/tag.js";
import { ServiceError } from "../api/status-fault.js";
import { difference, sizeOf, sortAddresses } from "./address/address-list.js";
import type { ReadAddresses } from "./address/address-text.js";
import { finishTag } from "./finish-tag.js";
import type { ExportFolder } from "./folder/export-folder.js";
import type { ExportedTag, IndexedTag } from "./folder/export-index.js";
import type { FileStems } from "./folder/file-stems.js";
import { readTag } from "./read-tag.js";
import type { ExportState } from "./state/export-state.js";
import { TagExportError } from "./faults.js";
import type { ExportTagsOptions, TagProgress, TagResult } from "./types.js";

/** What the export of a tag works with. */
export interface TagContext {
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly state: ExportState;
  /** The tag as the folder has it; null where it has not. */
  readonly before: ExportedTag | null;
  readonly stems: FileStems;
  /** One list in memory at a time, however many tags are read at once. */
  readonly oneList: LimitFunction;
}

/** What became of a tag, for the caller and for the index. */
export interface TagOutcome {
  readonly result: TagResult;
  readonly entry: IndexedTag;
  /** The fault, retries included, that may pass: a service that is away, or answers with errors. */
  readonly passingFault: ServiceError | null;
}

/**
 * Reads a tag's list and writes its files to the generation that is being built.
 *
 * @throws FatalError, or the signal's reason; what concerns this tag alone is a failed outcome
 */
export async function exportTag(
  name: string,
  signal: AbortSignal,
  context: TagContext,
): Promise<TagOutcome> {
  const tell = progressTeller(name, context.options);
  try {
    const entry = await readAndWrite(name, signal, context, tell);
    const { total, added, removed } = entry;
    const status = entry.status === "unchanged" ? "unchanged" : "exported";
    const files = entry.files.map(({ file }) => file);
    tell({ state: status, total });
    const result = { name, status, error: null, total, added, removed, files } as const;
    return { entry, result, passingFault: null };
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof ServiceError || error instanceof TagExportError)) throw error;
    // Pages that only a passing fault kept from being all are worth going on from.
    const isPassing = error instanceof ServiceError && error.again !== null;
    if (!isPassing) await context.state.forget(name);
    tell({ state: "failed", error });
    return failed(name, error, context.before, isPassing ? error : null);
  }
}

/** A tag that is not asked for, because the service gave nothing but this fault for those before it. */
export function passOver(
  name: string,
  fault: ServiceError,
  { options, before }: TagContext,
): TagOutcome {
  const error = new TagExportError(
    fault.code,
    `not asked for, because the tags before it all failed; the last one: ${fault.message}`,
  );
  progressTeller(name, options)({ state: "failed", error });
  return failed(name, error, before, fault);
}

async function readAndWrite(
  name: string,
  signal: AbortSignal,
  { options, folder, state, before, stems, oneList }: TagContext,
  tell: TellProgress,
): Promise<ExportedTag> {
  if (name === "") throw new TagExportError("invalid_tag_name", "a tag's name cannot be empty");
  const stem = stems.of(name);
  if (!(await folder.hasRoomFor(stem))) {
    throw new TagExportError(
      "file_name_taken",
      `${join(folder.path, stem)}.* is there and was not made by an export`,
      { hint: "move it away" },
    );
  }
  const reading = await readTag({
    name,
    client: options.client,
    state,
    clock: options.clock,
    signal,
    begun: await state.resume(name, before),
    isKnown: (first, addresses) => oneList(() => isKnown(first, addresses, before, folder)),
    onPage: ({ pages, entries, pin: { total } }) =>
      tell({ state: "reading", pages, entries, total }),
  });
  return oneList(async () => {
    signal.throwIfAborted();
    tell({ state: "writing" });
    const list = before && (await folder.listOf(before));
    if (before && !list) {
      options.onWarning?.(
        `the earlier list of tag ${name} cannot be read: what was added and removed is counted as for a first export`,
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
 * Whether the folder has the list whose first page this is: the snapshot fixes it. That the page's
 * addresses are in it guards against a service that uses a token again.
 */
async function isKnown(
  first: TagIps,
  addresses: ReadAddresses,
  before: ExportedTag | null,
  folder: ExportFolder,
): Promise<boolean> {
  if (first.snapshot !== before?.snapshot) return false;
  if (first.lastUpdate !== before.lastUpdate || first.total !== before.total) return false;
  const list = await folder.listOf(before);
  if (list === null || sizeOf(list) !== first.total) return false;
  const page = sortAddresses(addresses.v4.slice(), addresses.v6.slice());
  return sizeOf(difference(page, list)) === 0;
}

type TellProgress = (change: Partial<TagProgress>) => void;

/** Tells how far a tag is; what a change does not name stays as it was. */
function progressTeller(tag: string, { onProgress }: ExportTagsOptions): TellProgress {
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
  const error = { code, message };
  return {
    result: { name, status: "failed", error, total: null, added: null, removed: null, files: [] },
    entry: before ? { ...before, status: "failed", error } : { name, status: "failed", error },
    passingFault,
  };
}

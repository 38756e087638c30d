import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../api/status-fault.js";
import { counted, formatCount } from "../core/text/quantity.js";
import {
  type AddressList,
  difference,
  noAddresses,
  readEntries,
  sizeOf,
  sortAddresses,
} from "./address-list.js";
import { exportFault, TagExportError } from "./faults.js";
import type { ExportFolder } from "./folder/export-folder.js";
import { type ExportedFile, type ExportedTag, storedListName } from "./folder/export-index.js";
import type { FileStems } from "./folder/file-stems.js";
import { leaveOut } from "./left-out.js";
import { setNames } from "./list-formats/firewalls.js";
import { tagFormatWriters, writeText } from "./list-formats/registry.js";
import type { PageLog } from "./page-log.js";
import { readTag, type TagReading } from "./read-tag.js";
import type { ExportTagsOptions, TagProgress } from "./types.js";

/** What the export of one tag needs. */
export interface TagContext extends TagReading {
  readonly folder: ExportFolder;
  readonly stems: FileStems;
  /** Runs one at a time, so that only one list is in memory however many tags are read in parallel. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Reads a tag's list and writes its files to the generation under construction.
 *
 * @throws FatalError or the signal's reason; ServiceError and TagExportError concern this tag alone
 */
export async function exportTag(context: TagContext): Promise<ExportedTag> {
  const { name, signal, options, folder, state, stems, alone } = context;
  const report = progressReporter(name, options);
  try {
    if (name === "") {
      throw new TagExportError("invalid_tag_name", "a tag's name must not be empty");
    }
    const stem = stems.of(name);
    if (!(await folder.canUse(stem))) {
      throw new TagExportError(
        "file_name_taken",
        `${join(folder.path, stem)}.* exists and does not belong to an export`,
        { hint: "move it away, or export to another folder" },
      );
    }
    const log = await readTag(context, ({ pages, entries, pin: { total } }) =>
      report({ state: "reading", pages, entries, total }),
    );
    const tag = await alone(() => {
      signal.throwIfAborted();
      report({ state: "writing" });
      return writeTag(context, log, stem);
    });
    report({ state: tag.status === "unchanged" ? "unchanged" : "exported", total: tag.total });
    return tag;
  } catch (error) {
    if (signal.aborted || !isTagFault(error)) throw error;
    // Keep the pages for the next export if the fault may pass.
    if (!mayPass(error)) await state.forget(name);
    report({ state: "failed", error });
    throw error;
  }
}

export function isTagFault(error: unknown): error is ServiceError | TagExportError {
  return error instanceof ServiceError || error instanceof TagExportError;
}

/** Whether a fault, after all retries, is one of a service that is down or answers with errors. */
export function mayPass(fault: unknown): fault is ServiceError {
  return fault instanceof ServiceError && fault.again !== null;
}

/** Reports the progress of a tag. Members missing from a change keep their value. */
export function progressReporter(
  tag: string,
  { onProgress }: Pick<ExportTagsOptions, "onProgress">,
): (change: Partial<TagProgress>) => void {
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

/**
 * Checks a list, writes its files and describes them.
 *
 * @throws TagExportError `count_mismatch`, `list_leapt`; FatalError
 */
async function writeTag(
  { name, options, folder, state, before }: TagContext,
  log: PageLog,
  stem: string,
): Promise<ExportedTag> {
  const { about, snapshot, lastUpdate, pinnedAt: exportedAt } = log.pin;
  const { list, leftOut } = leaveOut(await checkedList(name, log), options.withheld);
  const old = before && (await folder.listOf(before));
  if (before && !old) {
    options.onWarning?.(
      `cannot read the earlier list of tag ${name}: added and removed addresses are counted as for a first export`,
    );
  }
  if (before) refuseLeap(name, old ? sizeOf(old) : before.total, sizeOf(list), options.maxChange);
  const { formats = ["txt"], formulaGuard = true } = options;
  const sets = setNames(name, stem);
  const metadata = { tag: name, snapshot, lastUpdate, exportedAt, sets, formulaGuard };
  const write = (file: string, pieces: Pieces) => writeNew(join(state.nextFolder, file), pieces);
  const files: ExportedFile[] = [];
  for (const format of formats) {
    const file = `${stem}.${format}`;
    const written = await write(file, tagFormatWriters[format](list, metadata));
    files.push({ format, file, ...written });
  }
  const changes = {
    added: difference(list, old ?? noAddresses),
    removed: difference(old ?? noAddresses, list),
  };
  for (const format of ["added", "removed"] as const) {
    const file = `${stem}.${format}.txt`;
    files.push({ format, file, ...(await write(file, writeText(changes[format]))) });
  }
  const { sha256 } = await write(storedListName(stem), writeText(list));
  const [added, removed] = [sizeOf(changes.added), sizeOf(changes.removed)];
  return {
    name,
    status: old && added === 0 && removed === 0 ? "unchanged" : "exported",
    error: null,
    description: about.description ?? null,
    intent: about.intent ?? null,
    category: about.category ?? null,
    references: about.references ?? [],
    snapshot,
    exported_at: exportedAt,
    lastUpdate,
    total: sizeOf(list),
    left_out: leftOut,
    ipv4: list.v4.length,
    ipv6: list.v6.length,
    sha256,
    previous: before && old && { snapshot: before.snapshot, exported_at: before.exported_at },
    added,
    removed,
    unchanged: sizeOf(list) - added,
    stem,
    sets,
    files,
  };
}

/** The distinct addresses of all pages. Their number must equal the reported total. */
async function checkedList(name: string, log: PageLog): Promise<AddressList> {
  const list = sortAddresses(readEntries(await log.read()) as AddressList);
  const { total } = log.pin;
  if (sizeOf(list) === total) return list;
  const repeats = log.entries - sizeOf(list);
  throw new TagExportError(
    "count_mismatch",
    `the list of tag ${name} has ${sizeOf(list)} distinct addresses, but its reported total is ${total}` +
      (repeats > 0 ? `; ${repeats} entries are duplicates` : ""),
  );
}

/** Lists with fewer addresses may change as much as they like. */
const leapFrom = 100;

/** @throws TagExportError `list_leapt` */
function refuseLeap(tag: string, before: number, now: number, maxChange = 0.5): void {
  const change = Math.abs(now - before) / before;
  if (before < leapFrom || change <= maxChange || maxChange >= 1) return;
  throw new TagExportError(
    "list_leapt",
    `the list of tag ${tag} had ${counted(before, "address")} and now has ${formatCount(now)}, a change of more than ${maxChange * 100}%`,
    { hint: "look at the tag; --max-change 100% accepts the new list" },
  );
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Writes a new file piece by piece. Durable once resolved. */
async function writeNew(path: string, pieces: Pieces): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await writeFile(path, hashed(), { flag: "wx", flush: true }).catch((error: unknown) => {
    throw exportFault(path, error);
  });
  return { bytes, sha256: hash.digest("hex") };
}

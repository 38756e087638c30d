import { join } from "node:path";
import { isTagFault, TagExportError } from "./faults.js";
import type { ExportFolder } from "./folder/export-folder.js";
import type { ExportedTag } from "./folder/export-index.js";
import type { FileStems } from "./folder/file-stems.js";
import { readTag, type TagReading } from "./read-tag.js";
import { noProgress, type TagProgress } from "./types.js";
import { writeTag } from "./write-tag.js";

/** What the export of one tag needs. */
interface TagContext extends TagReading {
  readonly folder: ExportFolder;
  readonly stems: FileStems;
  /** Runs one at a time, so that only one list is sorted and written however many are read. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Reads a tag's list and writes its files to the generation under construction.
 *
 * @throws FatalError or the signal's reason; ServiceError and TagExportError concern this tag alone
 */
export async function exportTag(context: TagContext): Promise<ExportedTag> {
  const { name, signal, options, folder, stems, alone } = context;
  let progress: TagProgress = { tag: name, ...noProgress };
  const report = (change: Partial<TagProgress>): void => {
    progress = { ...progress, ...change };
    options.onProgress?.(progress);
  };
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
    const list = await readTag(context, ({ pages, entries, total }) =>
      report({ state: "reading", pages, entries, total }),
    );
    const tag = await alone(() => {
      signal.throwIfAborted();
      report({ state: "writing" });
      return writeTag(context, list, stem);
    });
    report({ state: tag.status === "unchanged" ? "unchanged" : "exported", total: tag.total });
    return tag;
  } catch (error) {
    if (signal.aborted || !isTagFault(error)) throw error;
    report({ state: "failed", error });
    throw error;
  }
}

import type { Clock } from "../../core/clock.js";
import type { SourceInput } from "../../inputs/types.js";
import { findTableInput } from "../../run/copy/find-table-input.js";
import type { PrepareInput } from "../../run/rows/reading.js";
import type { WorkFolder } from "./work-folder.js";
import { waysToInput, type PlannedSettings, type WorkPlan } from "./work-plan.js";
import type { ReadingSettings, RowHandling } from "../../run/rows/row-handling.js";

/** What copying a table into a work folder needs. */
interface TableJob {
  readonly input: SourceInput;
  readonly work: WorkFolder;
  readonly settings: ReadingSettings & { readonly to?: PlannedSettings["to"] | undefined };
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** A table that was copied into a work folder. */
interface SplitTable {
  /** Name of the copy. */
  readonly copy: string;
  /** What the plan tells of it. */
  readonly paths: Pick<WorkPlan["input"], "path" | "absolute" | "from_work" | "table">;
  read(prepare: PrepareInput): RowHandling;
}

/**
 * Copies the rows of a table into the work folder; null if the input is text.
 *
 * @throws UsageError `text_option`, `input_empty`; as the table's reader
 */
export async function copyTable(job: TableJob): Promise<SplitTable | null> {
  const { input, work, settings, signal, clock, onNotice } = job;
  const found = "path" in input ? await findTableInput(input.path) : null;
  if (found === null) return null;
  const { copyOnce, copyPath, readTable, refuseTextOptions } =
    await import("../../run/copy/copied-table.js");
  const format = settings.to === "ndjson" ? "ndjson" : "tsv";
  const form = { format, keepsNulls: settings.to === "parquet" } as const;
  refuseTextOptions(found, settings);
  const place = { ...form, folder: work.pathOf("."), clock };
  await copyOnce(found, { ...place, signal, onNotice }, false);
  const { name, kind, file } = found;
  return {
    copy: copyPath("", format),
    paths: { ...waysToInput(work, file), path: name, table: { name, kind, ...form } },
    read: (prepare) => readTable(found, settings, { ...place, prepare }),
  };
}

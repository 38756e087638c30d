import { withSuffix } from "../../outputs/data-set/data-set.js";
import { isNaming } from "../../outputs/sql/column-names.js";
import type { OutputTarget } from "../destination/output-target.js";
import { optionalColumnsOf } from "../rows/reading.js";
import type { RowHandling } from "../rows/row-handling.js";
import type { StateFolder } from "../state/state-folder.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob, PublishedRun } from "../types.js";

/** What a reader of the rows needs to know, before the run removes its files. */
export function publishedRun(
  { job, handling }: { readonly job: EnrichJob; readonly handling: RowHandling },
  { warehouse }: OutputTarget,
  { path: folder, finished }: StateFolder,
  manifest: Manifest,
): PublishedRun {
  const { suffix = "", checkpoint } = finished ?? {};
  const local = withSuffix(job.settings.output.output, suffix);
  const { kind = "" } = warehouse?.target ?? {};
  // A retry in a table stages only the rows that change.
  const isWhole = kind === "parquet" || handling.runId === undefined;
  if (checkpoint === undefined || !isNaming(kind) || !isWhole)
    return { manifest, local, staged: null };
  const { source, sink: position } = checkpoint;
  const optional = optionalColumnsOf(job, handling);
  return { manifest, local, staged: { kind, folder, position, columns: source.columns, optional } };
}

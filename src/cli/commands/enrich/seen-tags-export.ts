import { join } from "node:path";
import { ReputeError } from "../../../core/errors.js";
import { writeManifest } from "../../../io/output/manifest-file.js";
import type { Output } from "../../../io/output/output.js";
import { manifestPath, startOf } from "../../../core/files/output-names.js";
import { seenTags, type SeenTags, uncountedText } from "../../../jobs/enrich/seen-tags.js";
import { otherNames } from "../../../jobs/enrich/counters.js";
import type { Manifest, TagExportRecord } from "../../../core/manifest.js";
import type { ExportReport } from "../../../jobs/tags/types.js";
import type { CommandCall } from "../../command.js";
import type { Session } from "../../../client/session/session.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { exportSummary, exportTagLists } from "../tag/export.js";
import { shellWord } from "../../../core/wording/quantity.js";

type SeenTagsCall = Pick<
  CommandCall<{
    readonly output: Output;
    readonly quiet: boolean;
    readonly json: boolean;
    readonly stateDir?: string | undefined;
  }>,
  "settings" | "context"
>;

interface SeenTagsExport {
  /** The run's manifest with the result of each tag. */
  readonly manifest: Manifest;
  readonly failed: number;
  /** The error that ended the export before any list was written; null if none. */
  readonly fault: { readonly error: unknown } | null;
}

/**
 * Exports the IP list of every tag seen in a run and records the results in its manifest. Needs only
 * that manifest, and is safe to repeat.
 */
export async function exportSeenTags(
  call: SeenTagsCall,
  session: Session,
  manifest: Manifest,
  folder: string,
): Promise<SeenTagsExport> {
  const { settings, context } = call;
  const seen = seenTags(manifest);
  let records: readonly TagExportRecord[];
  let fault: SeenTagsExport["fault"] = null;
  try {
    const what = { names: () => seen.names, folder, runId: manifest.run_id };
    const report = await exportTagLists(session, context, what, settings.quiet);
    records = recordsOf(report, folder);
    if (!settings.quiet && !settings.json) context.reporter.print(exportSummary(report));
  } catch (error) {
    fault = { error };
    records = seen.names.map((tag) => failedRecord(tag, error));
    context.reporter.print(afterwards(settings, manifest, folder));
  }
  if (seen.uncounted > 0) {
    context.reporter.print(`repute: ${uncountedText(seen)}`);
    records = [...records, uncountedRecord(seen)];
  }
  const failed = records.filter(({ status }) => status === "failed").length;
  const ending = failed === 0 ? {} : rowsFailed;
  const recorded: Manifest = { ...manifest, ...ending, tag_exports: records };
  // Rows on stdout have no manifest file.
  if (manifest.output.path !== null) {
    await saveManifest(settings, recorded).catch((error: unknown) => {
      fault ??= { error };
    });
  }
  return { manifest: recorded, failed, fault };
}

async function saveManifest(
  { output, stateDir }: SeenTagsCall["settings"],
  manifest: Manifest,
): Promise<void> {
  const { object, base } = output.named(startOf(manifest));
  if (object === null) return writeManifest(base(stateDir), manifest);
  const { writeObject } = await import("../../../io/s3/write-object.js");
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeObject(manifestPath(object.address), { text, type: "application/json" });
}

/** Failed tags count like failed rows. */
const rowsFailed = { exit_reason: "rows_failed", exit_code: exitCodes.rowsFailed } as const;

function recordsOf({ tags }: ExportReport, folder: string): readonly TagExportRecord[] {
  return tags.map(({ name, status, snapshot, total, added, removed, files, error }) => ({
    tag: name,
    status,
    snapshot,
    total,
    added,
    removed,
    files: files.map((file) => join(folder, file)),
    error,
  }));
}

function failedRecord(tag: string, error: unknown): TagExportRecord {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const code: string = error instanceof ReputeError ? error.code : "unexpected";
  const nothing = { snapshot: null, total: null, added: null, removed: null, files: [] };
  return { tag, status: "failed", ...nothing, error: { code, message } };
}

function uncountedRecord(seen: SeenTags): TagExportRecord {
  return failedRecord(otherNames, new ReputeError("too_many_tags", uncountedText(seen)));
}

function afterwards(
  { output, stateDir }: SeenTagsCall["settings"],
  manifest: Manifest,
  folder: string,
): string {
  const state = stateDir === undefined ? "" : ` --state-dir ${shellWord(stateDir)}`;
  const { isStdout, given } = output.named(startOf(manifest));
  const which = isStdout ? "NAME..." : `--seen-in ${shellWord(given)}${state}`;
  return `repute: the rows are done but their tag lists are not; to export them: repute tags export ${which} -o ${shellWord(folder)}`;
}

import { join } from "node:path";
import { ReputeError } from "../../core/errors.js";
import { manifestPath, startOf } from "../../core/files/output-names.js";
import type { Manifest, TagExportRecord } from "../../core/manifest.js";
import { counted, shellWord } from "../../core/wording/quantity.js";
import { writeManifest } from "../../io/output/manifest-file.js";
import { parseOutput } from "../../io/output/registry.js";
import { writeLines } from "../../io/output/text/write-lines.js";
import type { Output } from "../../io/output/output.js";
import { otherNames } from "../enrich/counters.js";
import { exitCodes } from "../enrich/ending.js";
import type { ExportReport } from "./export-tags.js";
import { type ExportTagsOptions, noList } from "./options.js";

interface SeenTagsJob {
  readonly output: Output;
  readonly stateDir?: string | undefined;
  readonly exportLists: (
    what: Pick<ExportTagsOptions, "names" | "folder" | "runId">,
  ) => Promise<ExportReport>;
  /** Called with what is missing, and how to export it. */
  readonly onFault: (message: string) => void;
}

/** Maximum number of tags in a proposed command. */
const mostNamed = 20;

/**
 * Exports the IP list of every tag seen in a run and records the results in its manifest. Needs only
 * that manifest, and is safe to repeat.
 *
 * @returns the manifest, in which failed tags count like failed rows, and the error that ended the export
 *   before any list was written
 */
export async function exportSeenTags(
  manifest: Manifest,
  folder: string,
  { output, stateDir, exportLists, onFault }: SeenTagsJob,
) {
  const { [otherNames]: uncounted = 0, ...seen } = manifest.tags;
  const names = Object.keys(seen);
  let records: readonly TagExportRecord[];
  let fault: { readonly error: unknown } | null = null;
  try {
    const { tags } = await exportLists({ names, folder, runId: manifest.run_id });
    records = tags.map(({ name: tag, files, ...result }) =>
      Object.assign({ tag, files: files.map((file) => join(folder, file)) }, result),
    );
  } catch (error) {
    fault = { error };
    records = names.map((tag) => failedRecord(tag, error));
    const which = names.length > mostNamed ? ["NAME..."] : names;
    const again = ["tags", "export", ...which, "-o", folder].map(shellWord).join(" ");
    onFault(`the rows are done but their tag lists are not; to export them: repute ${again}`);
  }
  if (uncounted > 0) {
    const text = `${counted(uncounted, "row")} with tags beyond the ${names.length} names that a run keeps; the lists of those tags are not exported`;
    onFault(text);
    records = [...records, failedRecord(otherNames, new ReputeError("too_many_tags", text))];
  }
  const isFailed = records.some(({ status }) => status === "failed");
  const recorded: Manifest = {
    ...manifest,
    ...(isFailed && { exit_reason: "rows_failed", exit_code: exitCodes.rowsFailed }),
    tag_exports: records,
  };
  // Rows on stdout have no manifest file.
  if (manifest.output.path !== null) {
    await saveManifest(output.named(startOf(manifest)), recorded, stateDir).catch((error) => {
      fault ??= { error };
    });
  }
  return { manifest: recorded, fault };
}

async function saveManifest(output: Output, manifest: Manifest, stateDir: string | undefined) {
  const { object, base, record } = output;
  if (object === null) await writeManifest(base(stateDir), manifest);
  else {
    const beside = parseOutput(manifestPath(object.address));
    await writeLines(beside, [`${JSON.stringify(manifest, null, 2)}\n`]);
  }
  await record?.(manifest);
}

function failedRecord(tag: string, error: unknown): TagExportRecord {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const code: string = error instanceof ReputeError ? error.code : "unexpected";
  return { tag, ...noList, error: { code, message } };
}

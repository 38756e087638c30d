import { madeUpOf } from "../../core/manifest/manifest.js";
import { UsageError } from "../../core/errors.js";
import { failedSuffix, withoutFailed } from "../../core/files/output-names.js";
import { realPath } from "../../core/files/real-path.js";
import { openForm, openRows } from "../../io/output/read/earlier-file.js";
import { type OutputFile, outputFile } from "../../io/output/read/output-file.js";
import { mustHaveColumns, retriedColumns } from "../../core/needed-columns.js";
import { detectSinkFormat, formats } from "../../io/formats/registry.js";
import type { SinkSettings } from "../../io/output/options.js";
import { findWarehouse } from "../../io/output/registry.js";
import { checkOutputName } from "../../io/output/check-paths.js";
import { execute } from "../enrich/execute.js";
import { findManifest, prefixOfOutput } from "../../io/output/manifest-file.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../enrich/types.js";
import { isObjectAddress } from "../../io/object/address.js";
import { type LocalOutput, localOutput } from "../../io/output/read/local-output.js";
import { shapeRefused } from "../../io/output/read/text-form.js";
import { retryStart } from "./retry-row.js";

/**
 * Looks up the failed and partial rows of an earlier output again. The result is a new output, or
 * replaces the earlier one; it keeps the run and its numbers of rows. Every other row, and every row
 * that does not improve, keeps all it has.
 *
 * @param prefix of the added columns. @default the one that the manifest notes
 */
export async function retryOutput(job: EnrichJob, prefix?: string): Promise<Manifest> {
  if (!("path" in job.input)) {
    throw new UsageError("retry_needs_file", "retry reads an earlier output file, not a stream");
  }
  const { path } = job.input;
  await using local = await localOutput(path);
  return await retryFiles(job, path, local, prefix);
}

async function retryFiles(
  job: EnrichJob,
  path: string,
  local: LocalOutput,
  asked: string | undefined,
): Promise<Manifest> {
  const { output, to } = job.settings.output;
  const found = local.path;
  // A file is an output without it.
  const manifest = await findManifest(found).catch(() => null);
  const prefix = prefixOfOutput(asked, manifest);
  const file = outputFile(found, manifest, to);
  const inPlace = placeOf(output) === placeOf(path);
  if (inPlace && path.endsWith(failedSuffix)) throw keepsFailed(path);
  if (to === undefined && !inPlace) await checkOutputName(output);
  const form = await openForm(file, prefix);
  checkFormat(path, file, { output, to });
  mustHaveColumns(path, retriedColumns, form.optional);
  const own: Partial<SinkSettings> = {
    ...form.settings,
    prefix,
    to: file.format,
  };
  // A limit protects an output from losing rows that have answers; these stay.
  const limits = inPlace ? { maxFailed: { percent: 100 } } : {};
  const settings = {
    ...job.settings,
    output: { ...job.settings.output, ...own },
    run: { ...job.settings.run, ...limits },
  };
  const runId = form.runId ?? manifest?.run_id;
  return execute(
    { ...job, settings },
    {
      inputFormat: () => Promise.resolve(form.reading.format),
      options: { retry: true, run: runId ?? null },
      madeUp: madeUpOf(manifest ?? {}),
      optional: form.optional,
      inPlace,
      replacedVersion: inPlace ? local.version : undefined,
      ...(runId === undefined ? {} : { runId }),
      // Retry exists to complete partial answers.
      partialsFromCache: false,
      open: (resume) => openRows(file, form, resume),
      start: retryStart,
      encoder: form.encoder,
    },
  );
}

/** The error for a retry in place of a file that the next run into its output removes. */
function keepsFailed(path: string): UsageError {
  const message = `${path} holds a run with too many failures, which is not retried in place`;
  return new UsageError("unknown_output", message, {
    hint: `name the output that takes them: -o ${withoutFailed(path)}`,
  });
}

/** Where an output is, in its only spelling. */
function placeOf(output: string): string {
  return isObjectAddress(output)
    ? output
    : (findWarehouse(output)?.target.base ?? realPath(output));
}

function checkFormat(
  path: string,
  { format }: OutputFile,
  { output, to }: Pick<SinkSettings, "output" | "to">,
): void {
  if (to !== undefined && to !== "parquet" && formats[to].earlier === undefined) {
    throw shapeRefused(`--to ${to}`);
  }
  const kind = format === "parquet" ? "parquet" : undefined;
  const target = output === "-" ? undefined : findWarehouse(output)?.target.kind;
  const named = output === "-" || target !== undefined ? null : detectSinkFormat(output).format;
  if (kind === target && (to ?? format) === format && (named ?? format) === format) return;
  throw new UsageError("retry_keeps_format", `${path} is ${format}, and so is its retry`, {
    hint: "leave out -o and --to to replace it, or name a file of the same format",
  });
}

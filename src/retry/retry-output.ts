import { madeUpOf } from "../core/manifest/manifest.js";
import { createHash } from "node:crypto";
import { UsageError } from "../core/errors.js";
import { failedSuffix, withoutFailed } from "../core/files/output-names.js";
import { realPath } from "../core/files/real-path.js";
import { openFiles, openForm } from "../earlier/earlier-files.js";
import { asOutputName, type OutputFiles, outputFiles } from "../earlier/output-files.js";
import { mustHaveColumns, retriedColumns } from "../core/needed-columns.js";
import { detectSinkFormat, formats } from "../formats/registry.js";
import type { SinkSettings } from "../outputs/options.js";
import { findWarehouse } from "../outputs/registry.js";
import { checkOutputName } from "../run/destination/check-paths.js";
import { execute } from "../run/execute.js";
import { findManifest, prefixOfOutput } from "../run/finish/manifest.js";
import type { Manifest } from "../core/manifest/manifest.js";
import type { EnrichJob } from "../run/types.js";
import { isObjectAddress } from "../s3/address.js";
import { type LocalOutput, localOutput } from "../earlier/local-output.js";
import { shapeRefused } from "../earlier/text-form.js";
import { type RowsToRetry, retryStart } from "./retry-row.js";

/**
 * Looks up the failed and partial rows of an earlier output again. The result is a new output, or
 * replaces the earlier one; it keeps the run and its numbers of rows. Every other row, and every row
 * that does not improve, keeps all it has. In a table, only the rows that improve are changed.
 */
export async function retryOutput(job: EnrichJob, which: RowsToRetry = {}): Promise<Manifest> {
  if (!("path" in job.input)) {
    throw new UsageError("retry_needs_file", "retry reads an earlier output file, not a stream");
  }
  const path = asOutputName(job.input.path);
  const warehouse = findWarehouse(path);
  if (warehouse !== null && warehouse.rows !== null) {
    const { retryTable } = await import("./retry-table.js");
    return retryTable(job, { ...warehouse, rows: warehouse.rows }, which);
  }
  const { run = null, prefix } = which;
  if (run !== null) {
    throw new UsageError("run_of_table", `--run names a run in a table, and ${path} is a file`, {
      hint: "leave out --run",
    });
  }
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
  const isSet = path.endsWith("/");
  const manifest = await findManifest(found).catch((error: unknown) => {
    // A file is an output without it.
    if (isSet) throw error;
    return null;
  });
  const prefix = prefixOfOutput(asked, manifest);
  const set = outputFiles(found, manifest, to);
  const inPlace = placeOf(output) === placeOf(path);
  if (inPlace && path.endsWith(failedSuffix)) throw keepsFailed(path);
  if (to === undefined && !isSet && !inPlace) await checkOutputName(output);
  const form = await openForm(set, prefix);
  checkFormat(path, set, { output, to });
  mustHaveColumns(path, retriedColumns, form.optional);
  const own: Partial<SinkSettings> = {
    ...form.settings,
    prefix,
    to: set.format,
    ...(isSet && {
      gzip: set.files.some(({ gzip }) => gzip),
      rowsPerFile: set.files.reduce((most, { part }) => Math.max(most, part?.rows ?? 0), 1),
    }),
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
      options: { retry: true, run: runId ?? null, ...(inPlace ? {} : pinned(set)) },
      madeUp: madeUpOf(manifest ?? {}),
      optional: form.optional,
      inPlace,
      replacedVersion: inPlace ? local.version : undefined,
      ...(runId === undefined ? {} : { runId }),
      // Retry exists to complete partial answers.
      partialsFromCache: false,
      open: (resume) => openFiles(set, form, resume),
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
  const name = asOutputName(output);
  return isObjectAddress(name) ? name : (findWarehouse(name)?.target.base ?? realPath(name));
}

/**
 * What a resumed retry of a data set must find again. One that is replaced is locked meanwhile, and has
 * other parts once it is.
 */
function pinned({ files }: OutputFiles): { readonly parts?: string } {
  const hash = createHash("sha256");
  for (const { part } of files) {
    if (part === null) return {};
    hash.update(`${part.name} ${part.sha256}\n`);
  }
  return { parts: hash.digest("hex") };
}

function checkFormat(
  path: string,
  { format }: OutputFiles,
  { output, to }: Pick<SinkSettings, "output" | "to">,
): void {
  if (to !== undefined && to !== "parquet" && formats[to].earlier === undefined) {
    throw shapeRefused(`--to ${to}`);
  }
  const isSet = path.endsWith("/");
  const kind = isSet ? "data set" : format === "parquet" ? "parquet" : undefined;
  const target = output === "-" ? undefined : findWarehouse(output)?.target.kind;
  const named = output === "-" || target !== undefined ? null : detectSinkFormat(output).format;
  if (kind === target && (to ?? format) === format && (named ?? format) === format) return;
  const what = isSet ? `a data set of ${format}` : format;
  throw new UsageError("retry_keeps_format", `${path} is ${what}, and so is its retry`, {
    hint: isSet
      ? "leave out -o and --to to replace the data set, or name another folder: -o DIR/"
      : "leave out -o and --to to replace it, or name a file of the same format",
  });
}

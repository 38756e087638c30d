import { createHash } from "node:crypto";
import { UsageError } from "../core/errors.js";
import { isObjectAddress } from "../s3/address.js";
import { findWarehouse } from "../outputs/registry.js";
import { findManifest } from "../run/finish/manifest.js";
import { execute } from "../run/execute.js";
import type { EnrichJob, Manifest } from "../run/types.js";
import { type DataSetParts, dataSetParts } from "./data-set-rows.js";
import { openParts, parquetParts, textParts } from "./data-set-source.js";
import { retryStart, withOutput } from "./retry-start.js";

/**
 * Looks up the failed and partial rows of a data set again, and replaces the data set or writes
 * another one. Files in which no row improves keep their content; where the data set is replaced,
 * they keep their names too.
 *
 * @param path with a trailing slash
 * @param isSynthetic whether the output holds invented answers
 * @throws UsageError `retry_keeps_format`, `manifest_missing`; as `retryOutput`
 */
export async function retryDataSet(
  job: EnrichJob,
  path: string,
  isSynthetic: boolean,
): Promise<Manifest> {
  const { output, to } = job.settings.output;
  const target = output === "-" ? null : findWarehouse(output)?.target;
  if (target?.kind !== "data set") throw keepsFormat(`${path} is a data set`);
  const inPlace = target.base === findWarehouse(path)?.target.base;
  const copy = isObjectAddress(path)
    ? await (await import("./local-copy.js")).copyOutput(path)
    : null;
  try {
    const folder = copy?.path ?? path;
    const manifest = await findManifest(folder);
    const set = dataSetParts(folder, manifest);
    if (to !== undefined && to !== set.format) {
      throw keepsFormat(`the files of ${path} are ${set.format}`);
    }
    const open = set.format === "parquet" ? parquetParts : textParts;
    const reading = await open(set, job.settings.output.prefix);
    const { run } = job.settings;
    const form = {
      ...reading.form,
      to: set.format,
      gzip: set.parts.some(({ gzip }) => gzip),
      rowsPerFile: set.parts.reduce((most, { rows }) => Math.max(most, rows), 1),
    };
    const own = withOutput(job, form);
    // A limit protects an output from losing rows that have answers; these stay.
    const settings = inPlace ? { ...own.settings, run: { ...run, maxFailed: all } } : own.settings;
    return await execute(
      { ...job, settings },
      {
        inputFormat: () => Promise.resolve("csv"),
        options: { retry: true, run: manifest?.run_id ?? null, ...pinned(set, inPlace) },
        synthetic: isSynthetic,
        optional: reading.optional,
        inPlace,
        replacedVersion: inPlace ? copy?.version : undefined,
        ...(manifest?.run_id === undefined ? {} : { runId: manifest.run_id }),
        // Retry exists to complete partial answers.
        partialsFromCache: false,
        open: (resume) => openParts(set, reading, resume),
        start: retryStart,
        encoder: reading.encoder,
      },
    );
  } finally {
    await copy?.remove();
  }
}

const all = { percent: 100 };

/**
 * What a resumed retry must find again. A data set that is replaced is locked meanwhile, and has
 * other parts once it is.
 */
function pinned({ parts }: DataSetParts, inPlace: boolean): { readonly parts?: string } {
  if (inPlace) return {};
  const hash = createHash("sha256");
  for (const { name, sha256 } of parts) hash.update(`${name} ${sha256}\n`);
  return { parts: hash.digest("hex") };
}

function keepsFormat(what: string): UsageError {
  return new UsageError("retry_keeps_format", `${what}, and so is the output of its retry`, {
    hint: "leave out -o and --to to replace the data set, or name another folder: -o DIR/",
  });
}

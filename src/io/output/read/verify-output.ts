import { schemaVersion } from "../../../core/columns.js";
import { FatalError, type ReputeError, UsageError } from "../../../core/errors.js";
import { realPath } from "../../../core/files/real-path.js";
import { RowCounter } from "../../../core/row.js";
import { formats } from "../../formats/registry.js";
import { unfinishedHint } from "../../input/verify-input.js";
import { findWarehouse, type TableRows } from "../registry.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { recordBase } from "../check-paths.js";
import { prefixOfOutput, readManifest } from "../manifest-file.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import { type CountedOutput, countOutput } from "./count-output.js";
import { localOutput } from "./local-output.js";
import { type OutputFile, outputFile } from "./output-file.js";
import { tableRecords } from "./read-output.js";
import { textLayout } from "./text-form.js";
import { writtenOf, wrongCounts } from "./wrong-counts.js";

interface Verification {
  readonly audit: CountedOutput;
  readonly differences: readonly string[];
}

/**
 * Verifies an output against the manifest beside it: bytes, SHA-256, rows, and rows by status and
 * verdict. In a database table, counts the rows of
 * the manifest's run, of which a merged table may hold fewer; in a STIX bundle, which does not hold its rows one by one, counts the
 * indicators.
 *
 * @param asked prefix of the added columns. Default the one that the manifest notes
 */
export async function verifyOutput(
  path: string,
  asked: string | undefined,
  stateDir?: string,
): Promise<Verification> {
  await using local = await localOutput(path);
  const name = local.path;
  const warehouse = findWarehouse(name);
  const base = warehouse === null ? realPath(name) : recordBase(warehouse.target, stateDir);
  const manifest = await manifestOfOutput(base);
  const prefix = prefixOfOutput(asked, manifest);
  if (warehouse !== null && warehouse.rows !== null) {
    const audit = await countTable(warehouse.rows, manifest.run_id, prefix);
    return { audit, differences: differencesOf(manifest, audit, "table") };
  }
  const audit = await countFile(outputFile(base, manifest), prefix);
  return { audit, differences: differencesOf(manifest, audit, "file") };
}

/** Counts the rows of a file. Formats that cannot be read back have just one layout. */
async function countFile(file: OutputFile, prefix: string): Promise<CountedOutput> {
  const { path, format, gzip } = file;
  const isRead = format !== "parquet" && formats[format].earlier !== undefined;
  const { shape, inputColumns } = isRead
    ? (await textLayout(file, format, prefix)).layout
    : { shape: "nested" as const, inputColumns: [] };
  const reading = { format, gzip, prefix, shape, inputColumns: inputColumns.length };
  return countOutput(path, reading);
}

async function countTable(table: TableRows, runId: string, prefix: string): Promise<CountedOutput> {
  const counter = new RowCounter();
  const only = ["status", "verdict"];
  const found = await tableRecords(table, { runId, prefix, only }).catch((error: unknown) => {
    if ((error as Partial<ReputeError>).code === "no_such_run") return null;
    throw error;
  });
  const hasVerdicts = found?.optional.only?.includes("verdict") ?? true;
  for await (const rows of found?.records ?? []) {
    for (const row of rows) {
      const verdict = hasVerdicts ? row.text("verdict") || null : undefined;
      const fault = counter.count(row.text("status"), verdict);
      if (fault !== null)
        throw new FatalError("output_corrupt", `the table has rows with ${fault}`);
    }
  }
  return { ...counter.found(), bytes: null, sha256: null };
}

function differencesOf(manifest: Manifest, audit: CountedOutput, place: string): readonly string[] {
  const { output, statuses, verdicts } = manifest;
  const { rows, indicators, without_key } = output;
  // Rows of the same key, or with an older answer than another run's, are not in a merged table.
  const isMerged = without_key !== undefined;
  const written = writtenOf({ rows, statuses, verdicts }, manifest.left_out);
  return [
    { what: "bytes", recorded: output.bytes, found: audit.bytes },
    { what: "sha256", recorded: output.sha256, found: audit.sha256 },
    { what: "indicators", recorded: indicators, found: audit.indicators },
    ...wrongCounts({ ...written, rows }, audit),
  ]
    .filter(({ recorded, found }) => recorded !== found)
    .filter(({ recorded, found }) => !isMerged || (found ?? 0) > (recorded ?? 0))
    .map(
      ({ what, recorded, found }) =>
        `${what}: the manifest says ${recorded}, the ${place} has ${found}`,
    );
}

async function manifestOfOutput(base: string): Promise<Manifest> {
  const hint =
    (await unfinishedHint(base)) ??
    "every finished run writes a manifest beside its output; name such an output";
  const manifest = await readManifest(base, hint);
  const { schema_version: version, output, statuses, verdicts } = manifest;
  if (version !== undefined && version !== schemaVersion) {
    throw new UsageError(
      "schema_version",
      `${manifestPath(base)} has schema version ${version}; this version of repute reads ${schemaVersion}`,
      { hint: "use the version of repute that wrote it, or run enrich on the input again" },
    );
  }
  if (output === undefined || statuses === undefined || verdicts === undefined) {
    throw new FatalError(
      "manifest_unreadable",
      `${manifestPath(base)} is not the manifest of a run`,
    );
  }
  return manifest as Manifest;
}

import { type OptionalColumns, schemaVersion } from "../../core/columns.js";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { countedVerdicts, findingStatuses, verdicts } from "../../core/finding.js";
import type { Manifest } from "../../core/manifest.js";
import { type CountedRows, type RowCounts, zeros } from "../../core/row.js";
import { readableFormats } from "../formats/registry.js";
import type { OutputRecord } from "../formats/types.js";
import { unfinishedHint } from "../input/stored-input.js";
import { manifestPlace, prefixOfOutput, readManifest } from "./manifest-file.js";
import type { Output } from "./output.js";
import { outputFault } from "../../core/files/output-fault.js";
import { localOutput, openForm, type OutputFile, outputFile, recordsOf } from "./read.js";

interface Verification {
  readonly audit: CountedOutput;
  readonly differences: readonly string[];
}

/**
 * Verifies an output against the manifest beside it: bytes, SHA-256, rows, and rows by status and
 * verdict. In a database table, counts the rows of the manifest's run, of which a merged table may
 * hold fewer.
 *
 * @param asked prefix of the added columns. Default the one that the manifest notes
 */
export async function verifyOutput(
  given: Output,
  asked: string | undefined,
  stateDir?: string,
): Promise<Verification> {
  await using local = await localOutput(given);
  const { output } = local;
  const manifest = await manifestOfRun(output, stateDir);
  const prefix = prefixOfOutput(asked, manifest);
  const audit =
    output.records === null
      ? await countFile({ ...outputFile(output, manifest), path: output.base() }, prefix, manifest)
      : await countTable(output.records, { runId: manifest.run_id, prefix });
  return { audit, differences: differencesOf(manifest, audit, output.isTable ? "table" : "file") };
}

/** Reads a whole file: its bytes, and the rows of a format that can be read back. */
async function countFile(
  file: OutputFile,
  prefix: string,
  manifest: Manifest,
): Promise<CountedOutput> {
  const { path, format } = file;
  const { indicators } = manifest.output;
  const { bytes, sha256 } = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const whole = { bytes, sha256 };
  // Its checksum says that the rows are those of the manifest.
  if (!readableFormats.includes(format)) {
    const none = { rows: null, statuses: null, verdicts: null };
    return { ...whole, indicators, ...(indicators === undefined ? writtenOf(manifest) : none) };
  }
  const form = await openForm(file, prefix, counted);
  const { optional } = form;
  const explain = (fault: string, row: number): string =>
    `${path} is damaged: row ${row} has ${fault}`;
  return { ...whole, ...(await countRecords({ optional, records: recordsOf(form) }, explain)) };
}

async function countTable(
  open: NonNullable<Output["records"]>,
  run: { readonly runId: string; readonly prefix: string },
): Promise<CountedOutput> {
  const none = { optional: {}, records: [] };
  const found = await open({ ...run, only: counted }).catch((error: unknown) => {
    if ((error as Partial<ReputeError>).code === "no_such_run") return none;
    throw error;
  });
  const counts = await countRecords(found, (fault) => `the table has rows with ${fault}`);
  return { ...counts, bytes: null, sha256: null };
}

/** The columns that are counted, without their prefix. */
const counted = ["status", "verdict"];

interface Records {
  readonly optional: OptionalColumns;
  readonly records: AsyncIterable<readonly OutputRecord[]> | readonly (readonly OutputRecord[])[];
}

/** @param explain says what is wrong with a row of this number */
async function countRecords(
  { optional, records }: Records,
  explain: (fault: string, row: number) => string,
): Promise<RowCounts> {
  const statuses = zeros(findingStatuses);
  const verdicts = zeros(countedVerdicts);
  const hasVerdicts = optional.only?.includes("verdict") ?? true;
  let rows = 0;
  const add = (counts: Record<string, number>, name: string, fault: string): void => {
    if (!Object.hasOwn(counts, name)) throw new FatalError("output_corrupt", explain(fault, rows));
    counts[name]! += 1;
  };
  for await (const list of records) {
    for (const row of list) {
      rows += 1;
      add(statuses, row.text("status"), "no status");
      if (hasVerdicts) add(verdicts, row.text("verdict") || "unknown", "an unknown verdict");
    }
  }
  return { rows, statuses, verdicts: hasVerdicts ? verdicts : null };
}

function differencesOf(manifest: Manifest, audit: CountedOutput, place: string): readonly string[] {
  const { output } = manifest;
  const written = writtenOf(manifest);
  // Rows of the same key, or with an older answer than another run's, are not in a merged table.
  const isMerged = output.without_key !== undefined;
  const { rows, statuses, verdicts: found } = audit;
  const compared: [what: string, recorded: unknown, found: unknown][] = [
    ["bytes", output.bytes, audit.bytes],
    ["sha256", output.sha256, audit.sha256],
  ];
  if (statuses !== null) {
    compared.push(["rows", written.rows, rows]);
    for (const name of findingStatuses) {
      compared.push([`rows ${name}`, written.statuses[name], statuses[name]]);
    }
  }
  if (found !== null) {
    for (const name of verdicts) {
      compared.push([`verdict ${name}`, written.verdicts[name], found[name]]);
    }
  }
  return compared
    .filter(([, recorded, there]) => recorded !== there)
    .filter(([, recorded, there]) => !isMerged || Number(there) > Number(recorded))
    .map(
      ([what, recorded, there]) =>
        `${what}: the manifest says ${String(recorded)}, the ${place} has ${String(there)}`,
    );
}

async function manifestOfRun(output: Output, stateDir: string | undefined): Promise<Manifest> {
  const hint =
    (await unfinishedHint(output.base(stateDir))) ??
    "every finished run writes a manifest beside its output; name such an output";
  const manifest = await readManifest(output, hint, stateDir);
  const path = manifestPlace(output, stateDir);
  const { schema_version: version, output: written, statuses, verdicts: found } = manifest;
  if (version !== undefined && version !== schemaVersion) {
    throw new UsageError(
      "schema_version",
      `${path} has schema version ${version}; this version of repute reads ${schemaVersion}`,
      { hint: "use the version of repute that wrote it, or run enrich on the input again" },
    );
  }
  if (written === undefined || statuses === undefined || found === undefined) {
    throw new FatalError("manifest_unreadable", `${path} is not the manifest of a run`);
  }
  return manifest as Manifest;
}

/** What an output holds of a run. */
export interface CountedOutput extends CountedRows {
  /** Size of the file; null for a table. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a table. */
  readonly sha256: string | null;
  /** Of a STIX bundle, which omits rows that accuse nothing. */
  readonly indicators?: number | undefined;
}

/** The counts of the written rows: without those that are left out. */
function writtenOf({ output, statuses, verdicts, left_out: leftOut }: Manifest) {
  const less = <K extends string>(all: Readonly<Record<K, number>>, by?: Record<K, number>) =>
    Object.fromEntries(
      Object.entries<number>(all).map(([name, n]) => [name, n - (by?.[name as K] ?? 0)]),
    ) as Record<K, number>;
  return {
    rows: output.rows,
    statuses: less(statuses, leftOut?.statuses),
    verdicts: less(verdicts, leftOut?.verdicts),
  };
}

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type OptionalColumns, schemaVersion } from "../../core/columns.js";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { findingStatuses, verdicts, type VerdictCounts } from "../../core/finding.js";
import type { LeftOutCounts, Manifest } from "../../core/manifest.js";
import { type RowCounts, RowCounter } from "../../core/row.js";
import { formats } from "../formats/registry.js";
import type { Counted, CountOptions, OutputRecord, SinkFormat } from "../formats/types.js";
import { mapLists } from "../formats/reading/lines.js";
import { unfinishedHint } from "../input/verify-input.js";
import { manifestPlace, prefixOfOutput, readManifest } from "./manifest-file.js";
import type { Output } from "./output.js";
import { outputFault } from "./output-fault.js";
import { recordReader } from "./output-row.js";
import { localOutput, type OutputFile, outputFile } from "./read.js";
import { textLayout } from "./text/read.js";
import type { FileFormat } from "./types.js";

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
      ? await countFile({ ...outputFile(output, manifest), path: output.base() }, prefix)
      : await countTable(output.records, { runId: manifest.run_id, prefix });
  return { audit, differences: differencesOf(manifest, audit, output.isTable ? "table" : "file") };
}

/** Counts the rows of a file. Formats that cannot be read back have just one layout. */
async function countFile(file: OutputFile, prefix: string): Promise<CountedOutput> {
  const { path, format, gzip } = file;
  const isRead = format !== "parquet" && formats[format].records !== undefined;
  const { shape, inputColumns } = isRead
    ? (await textLayout(file, format, prefix)).layout
    : { shape: "nested" as const, inputColumns: [] };
  const reading = { format, gzip, prefix, shape, inputColumns: inputColumns.length };
  return countOutput(path, reading);
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
): Promise<Counted> {
  const counter = new RowCounter();
  const hasVerdicts = optional.only?.includes("verdict") ?? true;
  for await (const rows of records) {
    for (const row of rows) {
      const verdict = hasVerdicts ? row.text("verdict") || null : undefined;
      const fault = counter.count(row.text("status"), verdict);
      if (fault !== null) throw new FatalError("output_corrupt", explain(fault, counter.rows));
    }
  }
  return counter.found();
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
export interface CountedOutput extends Counted {
  /** Size of the file; null for a table. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a table. */
  readonly sha256: string | null;
}

interface ReadingOptions extends CountOptions {
  readonly format: FileFormat;
  readonly gzip: boolean;
}

/** Reads a whole output file and counts its rows by status and verdict, or its indicators. */
export async function countOutput(
  path: string,
  { format, ...reading }: ReadingOptions,
): Promise<CountedOutput> {
  if (format === "parquet") return countParquet(path, reading);
  return countText(path, { format, ...reading }).catch((error: unknown) => {
    const { code, message } = error as Partial<NodeJS.ErrnoException>;
    const isDamaged = code === "output_corrupt";
    // Error codes of zlib, such as Z_BUF_ERROR at a premature end.
    if (!isDamaged && code?.startsWith("Z_") !== true) throw error;
    const what = isDamaged ? message : `its gzip data is damaged or cut off (${message})`;
    throw new FatalError("output_corrupt", `${path}: ${what}`, {
      cause: error,
      hint: "restore it from a copy, or run again",
    });
  });
}

async function countText(
  path: string,
  options: ReadingOptions & { readonly format: SinkFormat },
): Promise<CountedOutput> {
  const hash = createHash("sha256");
  let bytes = 0;
  const read = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  };
  const format = formats[options.format];
  const counter = format.count(options);
  const splitter = format.split();
  const count = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      for (const record of splitter.push(chunk)) counter.add(record);
    }
  };
  if (options.gzip) await pipeline(read, createGunzip(), count);
  else await count(read());
  if (splitter.end() !== null) {
    throw new FatalError("output_corrupt", "the last line of the output is incomplete");
  }
  return { bytes, ...counter.counted(), sha256: hash.digest("hex") };
}

/**
 * Reads a whole Parquet file: its footer, every row's status and verdict and, for the hash, every
 * byte.
 */
async function countParquet(
  path: string,
  { prefix }: { readonly prefix: string },
): Promise<CountedOutput> {
  const { bytes, sha256 } = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const { openParquetOutput } = await import("./parquet/read.js");
  const output = await openParquetOutput(path, { prefix, only: counted });
  const { columns, optional } = output;
  const records = mapLists(output.values(0), recordReader(columns, prefix));
  const explain = (fault: string, row: number): string =>
    `${path} is damaged: row ${row} has ${fault}`;
  return { bytes, sha256, ...(await countRecords({ optional, records }, explain)) };
}

/** Counts of all rows of a run. */
type AllRows = RowCounts & { readonly verdicts: Readonly<VerdictCounts> };

/** Counts as a run recorded them. */
type RecordedCounts = Pick<Manifest, "statuses" | "verdicts"> & {
  readonly rows: number;
};

/** A count that differs between the record and the output. */
interface WrongCount {
  readonly what: string;
  readonly recorded: number | null | undefined;
  readonly found: number | null | undefined;
}

/** Compares recorded counts with an output. A bundle has no rows to count. */
function wrongCounts(recorded: RecordedCounts, found: Counted): readonly WrongCount[] {
  const wrong: WrongCount[] = [];
  const check = (what: string, expected?: number | null, there?: number | null) => {
    if (expected !== there) wrong.push({ what, recorded: expected, found: there });
  };
  if (found.statuses !== null) check("rows", recorded.rows, found.rows);
  for (const status of found.statuses === null ? [] : findingStatuses) {
    check(`rows ${status}`, recorded.statuses[status], found.statuses?.[status]);
  }
  for (const verdict of found.verdicts === null ? [] : verdicts) {
    check(`verdict ${verdict}`, recorded.verdicts[verdict], found.verdicts?.[verdict]);
  }
  return wrong;
}

/** The counts of the written rows among all. */
function writtenOf(all: AllRows, leftOut: LeftOutCounts | undefined): AllRows {
  if (leftOut === undefined) return all;
  const less = <K extends string>(from: Readonly<Record<K, number>>, by: Record<K, number>) =>
    Object.fromEntries(
      Object.entries<number>(from).map(([name, n]) => [name, n - by[name as K]]),
    ) as Record<K, number>;
  return {
    rows: all.rows - leftOut.distinct - leftOut.only,
    statuses: less(all.statuses, leftOut.statuses),
    verdicts: less(all.verdicts, leftOut.verdicts),
  };
}

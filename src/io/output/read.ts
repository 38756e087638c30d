import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { mustHaveColumns, reportedColumns } from "../../core/columns.js";
import { manifestPath } from "../../core/files/output-names.js";
import type { FoundManifest } from "../../core/manifest.js";
import { temporaryFolder } from "../../core/resource-stack.js";
import { mapLists } from "../formats/reading/lines.js";
import { readableFormats } from "../formats/registry.js";
import type { OutputRecord } from "../formats/types.js";
import { downloadObject, isMissing } from "../s3/objects.js";
import { manifestPlace, prefixOfOutput, readManifest } from "./manifest-file.js";
import { outputFormats } from "./options.js";
import { inFile, type Output, type RunRows, type TableRecords } from "./output.js";
import { recordReader, type OutputForm } from "./output-row.js";
import { type ColumnRules, tableSchema, type TableSchemaOptions } from "./typed/table-schema.js";
import type { Stage } from "./stage.js";

export interface OutputReading extends Pick<TableRecords, "columns" | "records"> {
  /** Null where there is none beside the output. */
  readonly manifest: FoundManifest | null;
}

/**
 * Opens an output to read its rows once, in order.
 *
 * @param asked prefix of the added columns. Default the one that the manifest notes
 * @param only added columns to read of Parquet files and tables, without the prefix. Default all
 * @param stateDir the folder of `--state-dir`, for the manifest of a table
 */
export async function readOutput(
  given: Output,
  asked: string | undefined,
  only?: readonly string[],
  stateDir?: string,
): Promise<OutputReading> {
  const local = await localOutput(given);
  try {
    const { output } = local;
    const found = await readManifest(manifestPlace(output, stateDir));
    const rows = { runId: output.run, prefix: prefixOfOutput(asked, found), only };
    const { records, columns, optional, runId } = await openRecords(output, found, rows);
    mustHaveColumns(output.given, only ?? reportedColumns, optional);
    const untilRead = async function* () {
      await using _ = local;
      yield* records;
    };
    // Another machine may have written the newest run.
    const isOther = output.isTable && found?.run_id !== runId;
    return { columns, manifest: isOther ? null : found, records: untilRead() };
  } catch (error) {
    await local[Symbol.asyncDispose]();
    throw error;
  }
}

/** Opens the records of an output on this machine: of a table, those of a run. */
export async function openRecords(
  output: Output,
  manifest: FoundManifest | null,
  rows: RunRows,
): Promise<TableRecords> {
  if (output.records !== null) return output.records(rows);
  const file = outputFile(output, manifest);
  refuseUnreadable(output.given, file.format);
  const form = await openForm(file, rows.prefix, rows.only);
  const { columns, optional } = form;
  return { columns, optional, records: recordsOf(form) };
}

async function* recordsOf(form: OutputForm): AsyncGenerator<readonly OutputRecord[]> {
  const opened = await form.open();
  try {
    for await (const rows of opened.rows) yield rows.map(({ record }) => record);
  } finally {
    await opened.close();
  }
}

/**
 * Opens the staged rows of a run that is published in typed columns.
 *
 * @param rules those of these columns
 * @param options columns of the input, prefix and optional columns
 */
export function readStaged(
  stage: Stage,
  rules: ColumnRules,
  { columns, prefix, optional }: TableSchemaOptions,
): Omit<OutputReading, "manifest"> {
  const staged = tableSchema(rules, { columns, prefix, optional }).columns;
  return { columns, records: mapLists(stage.rows(), recordReader(staged, prefix)) };
}

/** An output on this machine: of an object a temporary copy, which is disposed of. */
interface LocalOutput extends AsyncDisposable {
  readonly output: Output;
  /** Of a copy: ETag of the object; empty if the store does not tell it. */
  readonly version?: string;
}

export async function localOutput(output: Output): Promise<LocalOutput> {
  const { object } = output;
  if (object === null) return { output, [Symbol.asyncDispose]: async () => undefined };
  const folder = await temporaryFolder();
  try {
    const { address } = object;
    const file = join(folder.path, basename(object.path));
    await downloadObject(manifestPath(address), manifestPath(file)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    const { etag: version } = await downloadObject(address, file);
    return { ...folder, output: inFile(output, file), version };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Tells how the file of an output is written.
 *
 * @param manifest beside it, or null
 * @param to the format, where neither the manifest nor the name tells it
 */
export function outputFile(
  { name: path, format: named, gzip }: Output,
  manifest: FoundManifest | null,
  to?: (typeof outputFormats)[number],
) {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts?.isFIFO() || facts?.isCharacterDevice()) {
    throw new UsageError("not_an_output", `${path} is not a regular file`, {
      hint: "an output is read more than once: write it to a file first",
    });
  }
  if (named === "parquet") return { path, format: named, gzip } as const;
  const noted = manifest?.output?.format;
  const formatNamed = (wanted: string | null | undefined) =>
    outputFormats.find((known) => known === wanted);
  if (noted !== undefined && formatNamed(noted) === undefined) {
    throw new UsageError("not_an_output", `${path} is ${noted}, which cannot be read back`);
  }
  return { path, format: formatNamed(noted) ?? to ?? formatNamed(named) ?? "csv", gzip };
}

/** A file that holds an output. */
type OutputFile = ReturnType<typeof outputFile>;

export function refuseUnreadable(path: string, format: OutputFile["format"]): void {
  if (readableFormats.includes(format)) return;
  throw new UsageError("report_cannot_read_shape", `the rows of ${path} cannot be read back`, {
    hint: "write CSV, NDJSON, Parquet or a table, and report on that",
  });
}

export async function openForm(
  file: OutputFile,
  prefix: string,
  only?: readonly string[],
): Promise<OutputForm> {
  const { format } = file;
  if (format === "parquet") {
    return (await import("./parquet/read.js")).formOfParquet(file.path, { prefix, only });
  }
  return (await import("./text/read.js")).formOfText(file, format, prefix);
}

import { stat, rm } from "node:fs/promises";
import { type InputType, columnTypes } from "../../formats/column-types.js";
import { verifyFile } from "../../input/open-input.js";
import {
  notAnOutput,
  outputColumns,
  type OutputForm,
  outputReading,
  outputRow,
  type OutputRow,
  recordReader,
} from "../output-row.js";
import { parquetRules, stagedType, type TableColumn, tableSchema } from "../typed/table-schema.js";
import { FatalError, UsageError, startOver, continueRun } from "../../../core/errors.js";
import { charactersIn, type StagedCell, type StagedRow } from "../stage.js";
import { elementTexts, joinedText } from "../../../core/json-members.js";
import { openParquet, type ParquetFile } from "./parquet-file.js";
import { existsSync, type Stats } from "node:fs";
import { join } from "node:path";
import { isObjectAddress } from "../../s3/address.js";
import { downloadObject } from "../../s3/objects.js";
import type { RunRows } from "../output.js";
import {
  type CopiedRow,
  type CopiedTable,
  copyHeader,
  copyLine,
  type CopyOptions,
} from "../../input/table-input.js";
import { temporaryFolder } from "../../../core/resource-stack.js";
import { writeChunks } from "../../../core/files/write-chunks.js";

export async function formOfParquet(
  path: string,
  options: Omit<RunRows, "runId">,
): Promise<OutputForm> {
  const facts = await stat(path).catch(() => null);
  if (facts === null) {
    throw new FatalError("output_missing", `there is no file ${path}`, { hint: "check the path" });
  }
  const opened = await openParquet(path);
  const { prefix, only } = options;
  const { optional, added, own } = outputColumns(path, opened.names, parquetRules, options);
  const schema = tableSchema(parquetRules, { columns: own, prefix, optional });
  const columns = schema.columns.filter(
    ({ from }) => !only || (from.kind === "added" && added.includes(from.column.name)),
  );
  const runId = await runOf(opened, `${prefix}run_id`);
  const [rows, bytesTotal] = [opened.count, facts.size];
  const form = {
    columns: own,
    types: own.map((name) => ownType(path, opened, name)),
    kind: "parquet",
    reading: outputReading(prefix),
  };
  return {
    ...form,
    optional,
    ...(runId !== null && { runId }),
    settings: {},
    async open(startAt) {
      const place = { row: startAt?.row ?? 0 };
      const checksum =
        startAt === undefined ? undefined : await verifyFile(path, startAt?.input ?? null);
      return {
        ...form,
        rows: unchanged(path, facts, rowsIn(path, opened, columns, prefix, place)),
        bytesTotal,
        bytesRead: () => (rows === 0 ? bytesTotal : Math.round((bytesTotal * place.row) / rows)),
        checksum: () => checksum,
        warnings: [],
        close: () => Promise.resolve(),
      };
    },
  };
}

/** @param place counts the rows that are read */
async function* rowsIn(
  path: string,
  opened: ParquetFile,
  columns: readonly TableColumn[],
  prefix: string,
  place: { row: number },
): AsyncGenerator<readonly OutputRow[]> {
  const recordOf = recordReader(columns, prefix);
  const cellsOf = outputCells(path, columns);
  const names = columns.map(({ name }) => name);
  // Results as received stay so.
  const reading = { columns: names, keepsJson: true, first: place.row };
  for await (const batch of opened.rows(reading)) {
    yield batch.map((values) => {
      const number = ++place.row;
      const saved = cellsOf(values);
      const at = { number, size: charactersIn(saved), saved };
      return outputRow(recordOf(saved), at, `${path}, row ${number}`);
    });
  }
}

/** Passes the rows of a file on, and finds out whether it was changed while they were read. */
async function* unchanged<T>(path: string, opened: Stats, rows: AsyncIterable<T>) {
  let fault: unknown = null;
  try {
    yield* rows;
  } catch (error) {
    fault = error;
  }
  const now = await stat(path).catch(() => null);
  if ((["ino", "size", "mtimeMs"] as const).some((fact) => now?.[fact] !== opened[fact])) {
    throw new FatalError("input_changed", `${path} was changed while it was read`, {
      hint: `restore it and ${continueRun}, or ${startOver}`,
    });
  }
  if (fault !== null) throw fault;
}

/** Programs that rewrite a file keep its columns, but not its metadata. */
async function runOf(opened: ParquetFile, column: string): Promise<string | null> {
  const firstRow = opened.rows({ columns: [column], end: 1 });
  for await (const [[run = null] = []] of firstRow) return run && joinedText(run);
  return null;
}

/** The type of an own column, which a retry has to write again. */
function ownType(path: string, { names, types }: ParquetFile, name: string): InputType {
  const type = types[names.indexOf(name)];
  if (type !== undefined && type.type !== null) return type;
  const what = `has a column ${name} that repute does not write: it is ${type?.declared}`;
  throw notAnOutput(path, what);
}

/** Returns a function that makes the staged cells of a row. */
function outputCells(
  path: string,
  columns: readonly TableColumn[],
): (values: CopiedRow) => StagedRow {
  const types = columns.map(stagedType);
  const cellOf = (json: string | null, index: number): StagedCell => {
    const type = types[index]!;
    if (json === null) return null;
    if (type === "text[]" && json.startsWith("[")) return elementTexts(json).map(joinedText);
    const text = joinedText(json);
    if (type === "text" || type === "json") return text;
    if (columnTypes[type].cellOf(text) !== undefined) return text;
    throw notAnOutput(path, `has a column ${columns[index]?.name} that is not ${type}`);
  };
  return (values) => values.map(cellOf);
}

/**
 * Copies the rows of a Parquet file, row group by row group. That of an object is first copied whole:
 * its columns are spread over the file.
 */
export async function copyParquet(
  name: string,
  to: string | null,
  options: CopyOptions,
): Promise<CopiedTable> {
  if (!isObjectAddress(name)) return copyFile(name, to, options, name);
  await using own = to === null ? await temporaryFolder() : null;
  const path = own === null ? `${to}.parquet` : join(own.path, "input.parquet");
  try {
    await downloadObject(name, path, options);
    return await copyFile(path, to, options, name);
  } finally {
    await rm(path, { force: true });
  }
}

async function copyFile(
  path: string,
  to: string | null,
  { signal }: CopyOptions,
  name: string,
): Promise<CopiedTable> {
  if (!existsSync(path)) {
    throw new UsageError("input_not_found", `there is no file ${path}`, { hint: "check the path" });
  }
  const opened = await openParquet(path, name);
  const { names: columns, types } = opened;
  const lines = async function* () {
    yield copyHeader(columns);
    const lineOf = copyLine(types);
    for await (const rows of opened.rows()) {
      signal?.throwIfAborted();
      yield rows.map(lineOf).join("");
    }
  };
  if (to !== null) await writeChunks(to, lines());
  return { columns, types, rows: to === null ? 0 : opened.count };
}

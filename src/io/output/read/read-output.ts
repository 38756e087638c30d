import { once } from "node:events";
import { PassThrough } from "node:stream";
import { UsageError } from "../../../core/errors.js";
import { addedColumns, lackedColumns, type OptionalColumns } from "../../../core/columns.js";
import { formats } from "../../formats/registry.js";
import type { EarlierRecord } from "../../formats/types.js";
import { stagedColumns, tableSchema } from "../sql/table-schema.js";
import { readStage } from "../stage.js";
import { findWarehouse, type TableRows } from "../registry.js";
import type { TableInput, TableReceiver } from "../tables/types.js";
import type { InputValue } from "../tables/values.js";
import type { FileFormat } from "../types.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import { recordBase } from "../check-paths.js";
import { findManifest, prefixOfOutput } from "../manifest-file.js";
import type { PublishedRun, StagedCells } from "../types.js";
import { openForm, rowsOf } from "./earlier-file.js";
import { localOutput } from "./local-output.js";
import { outputFile } from "./output-file.js";
import { mustHaveColumns, reportedColumns } from "../../../core/needed-columns.js";
import { cellsReader, typedRecord } from "./typed-record.js";

export interface OutputReading {
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  readonly records: AsyncIterable<readonly EarlierRecord[]>;
  /** Null where there is none beside the output. */
  readonly manifest: FoundManifest | null;
}

/**
 * Opens an output to read its rows once, in order.
 *
 * @param path as `-o` names it; a table may have `run=ID` among its parameters, for a run other than
 * that of its manifest
 * @param asked prefix of the added columns. Default the one that the manifest notes
 * @param only added columns to read of Parquet files and tables, without the prefix. Default all
 * @param stateDir the folder of `--state-dir`, for the manifest of a table
 */
export async function readOutput(
  path: string,
  asked: string | undefined,
  only?: readonly string[],
  stateDir?: string,
): Promise<OutputReading> {
  const local = await localOutput(path);
  const remove = () => local[Symbol.asyncDispose]();
  try {
    const { records, ...rest } = await readLocal(local.path, asked, only, stateDir);
    return { ...rest, records: withEnd(records, remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function* withEnd<T>(values: AsyncIterable<T>, end: () => PromiseLike<void>) {
  try {
    yield* values;
  } finally {
    await end();
  }
}

async function readLocal(
  path: string,
  asked: string | undefined,
  only: readonly string[] | undefined,
  stateDir: string | undefined,
): Promise<OutputReading> {
  const { address, run } = takeRun(path);
  const warehouse = findWarehouse(address);
  const needed = only ?? reportedColumns;
  const base = warehouse === null ? address : recordBase(warehouse.target, stateDir);
  const found = await findManifest(base);
  const prefix = prefixOfOutput(asked, found);
  if (warehouse !== null && warehouse.rows !== null) {
    const runId = run ?? found?.run_id ?? null;
    const manifest = found?.run_id === runId ? found : null;
    const rows = await tableRecords(warehouse.rows, { runId, prefix, only });
    mustHaveColumns(path, needed, rows.optional);
    return { ...rows, manifest };
  }
  const file = outputFile(base, found);
  refuseUnreadable(path, file.format);
  const form = await openForm(file, prefix, only);
  mustHaveColumns(path, needed, form.optional);
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for await (const rows of rowsOf(form)) yield rows.map(({ record }) => record);
  };
  return { columns: form.columns, records: records(), manifest: found };
}

interface RowsOfTable {
  /** Null for the newest run. */
  readonly runId: string | null;
  readonly prefix: string;
  /** Added columns to read, without the prefix. @default all, and the table's own */
  readonly only?: readonly string[] | undefined;
}

export async function tableRecords(
  table: TableRows,
  { runId, prefix, only }: RowsOfTable,
): Promise<Omit<OutputReading, "manifest"> & { readonly optional: OptionalColumns }> {
  const found = await table.find({ prefix, runId });
  const { optional } = found;
  const lacks = lackedColumns(only ?? [], optional);
  const wanted = only ?? addedColumns(optional).map(({ name }) => name);
  const added = wanted.filter((name) => !lacks.includes(name));
  const columns = only === undefined ? found.own : [];
  const input = await table.input(found.select(added, columns));
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for await (const rows of pulled(input)) yield rows.map((row) => typedRecord(added, row));
  };
  return { columns, records: records(), optional };
}

type Batch = readonly (readonly InputValue[])[];

/** The rows of a table in a fixed order, as they are asked for. */
async function* pulled(input: TableInput): AsyncGenerator<Batch> {
  const over = new AbortController();
  const { signal } = over;
  const batches = new PassThrough({ objectMode: true, highWaterMark: 1 });
  let [read, handed] = [0, 0];
  const receiver: TableReceiver = {
    begin: async () => void (read = 0),
    async rows(batch) {
      // After a lost connection, all rows come again.
      const fresh = batch.slice(Math.max(0, handed - read));
      read += batch.length;
      handed = Math.max(handed, read);
      if (fresh.length > 0 && !batches.write(fresh)) await once(batches, "drain", { signal });
    },
  };
  const reading = input.read(receiver, { signal, onWarning: () => undefined }).then(
    () => void batches.end(),
    (error: Error) => void batches.destroy(error),
  );
  try {
    yield* batches as AsyncIterable<Batch>;
  } finally {
    over.abort();
    await reading;
  }
}

/** Separates `run=ID` from the other parameters of a table. */
function takeRun(output: string): { readonly address: string; readonly run: string | null } {
  const parts = /^([a-z]+:.*[?&])run=([^&]*)&?(.*)$/i.exec(output);
  if (parts === null) return { address: output, run: null };
  const [, before = "", run = "", after = ""] = parts;
  return { address: (before + after).replace(/[?&]$/, ""), run: decodeURIComponent(run) };
}

export function refuseUnreadable(path: string, format: FileFormat): void {
  if (format === "parquet" || formats[format].earlier !== undefined) return;
  throw new UsageError("report_cannot_read_shape", `the rows of ${path} cannot be read back`, {
    hint: "write CSV, NDJSON, Parquet or a table, and report on that",
  });
}

/** Opens the staged rows of a run that is published. */
export function readStaged(
  { kind, folder, position, columns, optional }: StagedCells,
  { manifest }: PublishedRun,
  prefix: string,
): OutputReading {
  const staged = stagedColumns(tableSchema(kind, { columns, prefix, optional }).columns);
  const recordOf = cellsReader(staged, prefix);
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for await (const rows of readStage(folder, position, staged)) yield rows.map(recordOf);
  };
  return { columns, records: records(), manifest };
}

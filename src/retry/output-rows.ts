import { UsageError } from "../core/errors.js";
import { detectSinkFormat, formats } from "../formats/registry.js";
import { type EarlierRecord, type SinkFormat, sinkFormats } from "../formats/types.js";
import { isObjectAddress } from "../s3/address.js";
import { findWarehouse } from "../outputs/registry.js";
import type { Manifest } from "../run/types.js";
import { recordBase } from "../run/destination/check-paths.js";
import { findManifest, prefixOfOutput } from "../run/finish/manifest.js";
import { asOutputName, dataSetParts } from "./data-set-rows.js";
import {
  type EarlierOutputOptions,
  type EarlierShape,
  earlierShape,
  openEarlierOutput,
} from "./earlier-output.js";
import type { EarlierRow } from "./earlier-record.js";
import { withoutFailed } from "../core/files/output-names.js";

/** The rows of an output, and the record of the run that wrote them. */
export interface OutputReading {
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  readonly records: AsyncIterable<readonly EarlierRecord[]>;
  /** Null where there is none beside the output. */
  readonly manifest: Partial<Manifest> | null;
}

/**
 * Opens an output to read its rows once, in order.
 *
 * @param path as `-o` names it; a table may have `run=ID` among its parameters, for a run other than
 * that of its manifest
 * @param asked prefix of the added columns. Default the one that the manifest notes
 * @param only added columns to read of Parquet files and tables, without the prefix. Default all
 * @param stateDir the folder of `--state-dir`, for the manifest of a table
 * @throws UsageError `not_an_output`, `report_cannot_read_shape`, `manifest_unreadable`;
 * what reading fails with. Reading the records throws FatalError `output_corrupt`.
 */
export async function readOutput(
  path: string,
  asked: string | undefined,
  only?: readonly string[],
  stateDir?: string,
): Promise<OutputReading> {
  if (isObjectAddress(path)) return readCopy(path, asked, only);
  const { address, run } = takeRun(asOutputName(path));
  const warehouse = findWarehouse(address);
  const base = warehouse === null ? path : recordBase(warehouse.target, stateDir);
  const found = await findManifest(base);
  const manifest = run === null || found?.run_id === run ? found : null;
  const prefix = prefixOfOutput(asked, manifest);
  if (warehouse?.target.kind === "data set") {
    return { ...(await dataSetRows(base, found, prefix, only)), manifest: found };
  }
  if (warehouse !== null) {
    const rows = await warehouse.rows({ runId: run ?? found?.run_id, prefix, only });
    if (rows === null) throw unreadable(path);
    return { ...rows, manifest };
  }
  const { gzip } = detectSinkFormat(withoutFailed(path));
  const options = { path, format: readableFormat(path, manifest?.output?.format), gzip, prefix };
  const shape = await earlierShape(options);
  return { columns: shape.inputColumns, records: recordsIn(options, shape), manifest };
}

/** Reads a temporary copy of an output in object storage. */
async function readCopy(
  address: string,
  asked: string | undefined,
  only: readonly string[] | undefined,
): Promise<OutputReading> {
  const copy = await (await import("./local-copy.js")).copyOutput(address);
  try {
    const { records, ...rest } = await readOutput(copy.path, asked, only);
    const read = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
      try {
        yield* records;
      } finally {
        await copy.remove();
      }
    };
    return { ...rest, records: read() };
  } catch (error) {
    await copy.remove();
    throw error;
  }
}

/** The rows of all parts, one part after the other. */
async function dataSetRows(
  folder: string,
  manifest: Partial<Manifest> | null,
  prefix: string,
  only: readonly string[] | undefined,
): Promise<Omit<OutputReading, "manifest">> {
  const { parts, format } = dataSetParts(folder, manifest);
  const open = async (path: string, gzip: boolean) => {
    if (format === "parquet") {
      const rows = await findWarehouse(path)?.rows({ prefix, only });
      if (rows === null || rows === undefined) throw unreadable(path);
      return rows;
    }
    const options = { path, format: readableFormat(path, format), gzip, prefix };
    const shape = await earlierShape(options);
    return { columns: shape.inputColumns, records: recordsIn(options, shape) };
  };
  const [first] = parts;
  const { columns } = first === undefined ? { columns: [] } : await open(first.path, first.gzip);
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for (const { path, gzip } of parts) yield* (await open(path, gzip)).records;
  };
  return { columns, records: records() };
}

/** Separates `run=ID` from the other parameters of a table. */
function takeRun(output: string): { readonly address: string; readonly run: string | null } {
  const parts = /^([a-z]+:.*[?&])run=([^&]*)&?(.*)$/i.exec(output);
  if (parts === null) return { address: output, run: null };
  const [, before = "", run = "", after = ""] = parts;
  return { address: (before + after).replace(/[?&]$/, ""), run: decodeURIComponent(run) };
}

async function* recordsIn(
  options: EarlierOutputOptions,
  shape: EarlierShape,
): AsyncGenerator<readonly EarlierRecord[]> {
  const source = await openEarlierOutput(options, shape, null);
  try {
    for await (const rows of source.rows) yield rows.map((row) => (row as EarlierRow).record);
  } finally {
    await source.close();
  }
}

/**
 * The format of an output, by what is said of it or else by its name.
 *
 * @throws UsageError `report_cannot_read_shape`
 */
export function readableFormat(path: string, name: string | undefined): SinkFormat {
  const said = sinkFormats.find((known) => known === name);
  const format = said ?? detectSinkFormat(withoutFailed(path)).format ?? "csv";
  if (formats[format].earlier !== undefined) return format;
  throw unreadable(path);
}

function unreadable(path: string): UsageError {
  return new UsageError("report_cannot_read_shape", `the rows of ${path} cannot be read back`, {
    hint: "write CSV, NDJSON, Parquet or a table, and report on that",
  });
}

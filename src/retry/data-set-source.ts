import { counted } from "../core/text/quantity.js";
import { stat } from "node:fs/promises";
import type { OptionalColumns } from "../core/columns.js";
import { FatalError } from "../core/errors.js";
import type { Encoder, InputReading, SinkFormat } from "../formats/types.js";
import type { OpenedSource, SourcePosition } from "../inputs/types.js";
import { openCopiedFile } from "../outputs/parquet/copied-file.js";
import type { SinkSettings } from "../outputs/options.js";
import { copyingEncoder } from "./copying-encoder.js";
import type { DataSetParts } from "./data-set-rows.js";
import { earlierShape, openEarlierOutput } from "./earlier-output.js";
import type { EarlierRow } from "./earlier-record.js";
import { rejectsReading, rowReader } from "./retry-parquet.js";

type DataSetPart = DataSetParts["parts"][number];

/** How the rows of a data set are read and written again. */
export interface PartsReading {
  readonly columns: readonly string[];
  readonly kind?: string;
  readonly reading: InputReading;
  readonly optional: OptionalColumns;
  /** Settings that keep the form of the files. */
  readonly form: Partial<SinkSettings>;
  /** Wraps the encoder of text. */
  readonly encoder?: (encoder: Encoder) => Encoder;
  /** The rows of a part behind the first `skip` ones, numbered from 1 within the part. */
  rows(part: DataSetPart, skip: number): AsyncIterable<readonly EarlierRow[]>;
}

/** Reads parts of Parquet. @throws as `openCopiedFile` */
export async function parquetParts({ parts }: DataSetParts, prefix: string): Promise<PartsReading> {
  const { path = "" } = parts[0] ?? {};
  const first = await openCopiedFile(path, prefix);
  const namesOf = ({ schema }: typeof first): string =>
    schema.columns.map((c) => c.name).join("\n");
  return {
    columns: first.own,
    kind: "parquet",
    reading: rejectsReading(prefix),
    optional: first.optional,
    form: {},
    async *rows(part, skip) {
      const file = await openCopiedFile(part.path, prefix);
      if (namesOf(file) !== namesOf(first)) {
        throw corrupt(`${part.path} has other columns than ${path}`);
      }
      const rowOf = rowReader(part.path, file, prefix);
      let number = skip;
      for await (const cells of file.cells(skip)) yield cells.map((row) => rowOf(row, ++number));
    },
  };
}

/** Reads parts of text. @throws as `earlierShape` */
export async function textParts(
  { format, parts }: DataSetParts,
  prefix: string,
): Promise<PartsReading> {
  const { path = "", gzip = false } = parts[0] ?? {};
  const options = { path, format: format as SinkFormat, gzip, prefix };
  const shape = await earlierShape(options);
  return {
    columns: shape.inputColumns,
    reading: shape.reading,
    optional: shape.optional,
    form: { shape: shape.shape },
    encoder: (encoder) => copyingEncoder(encoder, shape, { prefix }),
    async *rows(part, skip) {
      const own = { ...options, path: part.path, gzip: part.gzip };
      const source = await openEarlierOutput(own, shape, null);
      try {
        for await (const rows of source.rows) {
          const rest = (rows as readonly EarlierRow[]).filter(({ number }) => number > skip);
          if (rest.length > 0) yield rest;
        }
      } finally {
        await source.close();
      }
    },
  };
}

/**
 * Opens the rows of all parts, one part after the other. Positions count rows.
 *
 * @throws FatalError `output_corrupt` if the manifest does not fit the parts
 */
export async function openParts(
  { parts }: DataSetParts,
  set: PartsReading,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  for (const { path, bytes } of parts) {
    const { size } = await stat(path);
    if (size === bytes) continue;
    throw corrupt(`${path} has ${size} bytes, and its manifest says ${bytes}`);
  }
  const bytesTotal = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const rowsTotal = parts.reduce((sum, { rows }) => sum + rows, 0);
  let read = resume?.row ?? 0;
  const rows = async function* (): AsyncGenerator<readonly EarlierRow[]> {
    let before = 0;
    for (const part of parts) {
      const first = before;
      before += part.rows;
      if (read >= before) continue;
      for await (const batch of set.rows(part, read - first)) {
        read += batch.length;
        yield batch.map((row) => numbered(row, first));
      }
      if (read === before) continue;
      throw corrupt(
        `${part.path} has ${counted(read - first, "row")}, and its manifest says ${part.rows}`,
      );
    }
  };
  return {
    columns: set.columns,
    kind: set.kind,
    reading: set.reading,
    rows: rows(),
    bytesTotal,
    bytesRead: () => (rowsTotal === 0 ? bytesTotal : Math.round((bytesTotal * read) / rowsTotal)),
    checksum: () => undefined,
    warnings: new Map(),
    close: () => Promise.resolve(),
  };
}

/** A row with its number in the data set. */
function numbered(row: EarlierRow, before: number): EarlierRow {
  const number = before + row.number;
  return { ...row, number, end: number, endLine: number };
}

function corrupt(what: string): FatalError {
  return new FatalError("output_corrupt", what, { hint: "restore the data set from a copy" });
}

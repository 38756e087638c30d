import { decodeBytes } from "../../core/bytes.js";
import { schemaVersion } from "../../core/columns.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { openInput } from "../../inputs/open-input.js";
import type { InputBytes } from "../../inputs/open-input.js";
import type { InputReading, OpenedSource, SourcePosition } from "../../inputs/types.js";
import type { EarlierFormat } from "./earlier-format.js";
import { jsonFormat, tableFormat } from "./earlier-format.js";
import { earlierFinding, earlierItem } from "./earlier-record.js";
import type { EarlierRow } from "./earlier-record.js";
import { RecordSplitter } from "./split-records.js";

/** Formats that hold each row as it was read, with what was found beside it. */
type RowFormat = "csv" | "tsv" | "ndjson";

export interface EarlierOutputOptions {
  readonly path: string;
  readonly format: RowFormat;
  readonly gzip: boolean;
  /** What the names of the added columns begin with. */
  readonly prefix: string;
}

/** An earlier output, opened as a source of its own records. */
export interface EarlierOutput extends OpenedSource {
  /** The line that names the columns, to the letter; "" for NDJSON. */
  readonly header: string;
  readonly shape: EarlierFormat["shape"];
  /** 1 where the rows have no verdict. */
  readonly schemaVersion: number;
}

/**
 * Opens an earlier output of ours.
 *
 * @throws UsageError `not_an_output` when its columns or members are not ours,
 * `retry_cannot_read_shape` when it is in the shape of a security platform
 */
export async function openEarlierOutput(
  options: EarlierOutputOptions,
  resume: SourcePosition | null,
): Promise<EarlierOutput> {
  const { header, first } = await readBeginning(options);
  const format =
    options.format === "ndjson"
      ? jsonFormat(first, options.prefix)
      : tableFormat(header, options.format === "csv" ? "," : "\t", options.prefix);
  if (format === null && first !== "") {
    throw shaped.test(first) ? shapeRefused(options.path) : notAnOutput(options);
  }
  const input = await openInput(
    { path: options.path },
    { ...options, offset: resume?.offset ?? 0, before: resume?.input },
  );
  const place = { row: resume?.row ?? 0, line: resume?.line ?? 0, end: resume?.offset ?? 0 };
  return {
    header,
    shape: format?.shape ?? "nested",
    schemaVersion: format?.schemaVersion ?? schemaVersion,
    columns: format?.inputColumns ?? [],
    reading: readingOf(options),
    rows: earlierRows(input, options, format, place),
    bytesTotal: input.bytesTotal,
    bytesRead: () => input.bytesRead(),
    checksum: () => input.checksum(),
    warnings: new Map(),
    close: () => input.close(),
  };
}

function readingOf({ format, prefix }: EarlierOutputOptions): InputReading {
  const delimiter = { csv: ",", tsv: "\t", ndjson: null } as const;
  return {
    format,
    delimiter: delimiter[format],
    comment: null,
    spaced: false,
    header: format === "ndjson" ? "none" : "record",
    item: { name: `${prefix}item`, index: -1, by: "format", sample: null },
    kind: null,
  };
}

/** The header line of a table, and the first record of NDJSON. */
async function readBeginning(
  options: EarlierOutputOptions,
): Promise<{ header: string; first: string }> {
  const input = await openInput({ path: options.path }, { ...options, offset: 0 });
  try {
    const splitter = new RecordSplitter(options.format !== "ndjson");
    for await (const chunk of input.chunks) {
      const [record] = splitter.push(chunk);
      if (record === undefined) continue;
      const text = decodeBytes(record);
      return options.format === "ndjson"
        ? { header: "", first: text }
        : { header: text, first: text };
    }
    if (options.format === "ndjson") return { header: "", first: "" };
    throw notAnOutput(options);
  } finally {
    await input.close();
  }
}

async function* earlierRows(
  input: InputBytes,
  options: EarlierOutputOptions,
  format: EarlierFormat | null,
  place: { row: number; line: number; end: number },
): AsyncGenerator<readonly EarlierRow[]> {
  const table = options.format !== "ndjson";
  const splitter = new RecordSplitter(table);
  let headerPending = table && place.end === 0;
  for await (const chunk of input.chunks) {
    const records = splitter.push(chunk);
    if (headerPending && records.length > 0) {
      headerPending = false;
      const header = records.shift()!;
      place.end += header.length;
      place.line += linesIn(header);
    }
    if (records.length > 0 && format !== null) yield rowsOf(records, options, format, place);
  }
  const rest = splitter.end();
  if (rest !== null) {
    throw new FatalError(
      "output_corrupt",
      `${options.path}: the last line (line ${place.line + 1}) is cut off`,
      { hint: "an output is whole when it appears; was it copied in part?" },
    );
  }
}

function rowsOf(
  records: readonly Buffer[],
  options: EarlierOutputOptions,
  format: EarlierFormat,
  place: { row: number; line: number; end: number },
): readonly EarlierRow[] {
  const texts = records.map(decodeBytes);
  const read = format.read(texts);
  return records.map((bytes, index): EarlierRow => {
    const record = read[index] ?? null;
    const earlier = record === null ? null : earlierFinding(record.facts);
    if (record === null || earlier === null) {
      throw new FatalError(
        "output_corrupt",
        `${options.path}, line ${place.line + 1}: this is no row of an output`,
      );
    }
    const line = place.line + 1;
    place.row++;
    place.line += linesIn(bytes);
    place.end += bytes.length;
    return {
      number: place.row,
      line,
      cells: record.cells,
      extra: record.extra,
      json: record.json,
      itemText: record.facts.item,
      kindText: record.facts.kind,
      fault: null,
      end: place.end,
      endLine: place.line,
      text: texts[index] ?? "",
      item: earlierItem(record.facts),
      earlier,
    };
  });
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}

/** What the lines of ECS and OCSF have in them, and a bundle begins with. */
const shaped = /^\{"(?:type":"bundle"|.*"repute":\{"row":)/;

/** Refuses an output in the shape of a security platform and says what to do instead. */
/** @param what what asks for such a shape: a path, or a flag */
export function shapeRefused(what: string): UsageError {
  return new UsageError(
    "retry_cannot_read_shape",
    `${what} is in the shape of a security platform, which retry neither reads nor writes`,
    {
      hint: "run enrich on the input again; given a --cache DIR both times, it asks only for what it could not get before",
    },
  );
}

function notAnOutput({ path, prefix }: EarlierOutputOptions): UsageError {
  return new UsageError("not_an_output", `${path} does not have the columns of an output`, {
    hint: `name an earlier OUT of repute; columns that begin otherwise than ${prefix} need --prefix`,
  });
}

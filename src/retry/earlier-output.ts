import { decodeBytes } from "../core/bytes.js";
import { schemaVersion } from "../core/columns.js";
import { FatalError, UsageError } from "../core/errors.js";
import { formats } from "../formats/registry.js";
import type {
  EarlierFormat,
  EarlierLayout,
  InputReading,
  SinkFormat,
  SourceFormat,
} from "../formats/types.js";
import { openInput } from "../inputs/open-input.js";
import type { InputBytes, OpenedSource, SourcePosition } from "../inputs/types.js";
import { earlierFinding, earlierItem, type EarlierRow } from "./earlier-record.js";

export interface EarlierOutputOptions {
  readonly path: string;
  readonly format: SinkFormat;
  readonly gzip: boolean;
  /** Prefix of the added columns. */
  readonly prefix: string;
}

/** Layout of an earlier output, detected from its first record. */
export interface EarlierShape extends EarlierLayout {
  /** The header line, verbatim; "" for NDJSON. */
  readonly header: string;
  readonly reading: InputReading;
}

/** Layout of an output without rows. */
const noRows = {
  inputColumns: [],
  shape: "nested",
  optional: {},
  read: () => null,
} as const;

/** Read position in an earlier output. */
interface Place {
  row: number;
  line: number;
  end: number;
}

/**
 * Detects the layout of an earlier output.
 *
 * @throws UsageError `not_an_output` if it lacks the added columns, `retry_cannot_read_shape` if it
 *   has the shape of a security platform
 */
export async function earlierShape(options: EarlierOutputOptions): Promise<EarlierShape> {
  const { earlier } = formats[options.format];
  if (earlier === undefined) throw shapeRefused(`--to ${options.format}`);
  const first = await firstRecord(options);
  if (first === "" && earlier.header) throw notAnOutput(options);
  const layout = earlier.layout(first, options.prefix);
  if (layout === null && first !== "") {
    throw shapeStart.test(first) ? shapeRefused(options.path) : notAnOutput(options);
  }
  const header = earlier.header ? first : "";
  return { ...(layout ?? noRows), header, reading: readingOf(options, earlier) };
}

/** Opens an earlier output as a source of its records. */
export async function openEarlierOutput(
  options: EarlierOutputOptions,
  earlier: EarlierShape,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  const input = await openInput(
    { path: options.path },
    { ...options, offset: resume?.offset ?? 0, before: resume?.input },
  );
  const place = { row: resume?.row ?? 0, line: resume?.line ?? 0, end: resume?.offset ?? 0 };
  return {
    columns: earlier.inputColumns,
    reading: earlier.reading,
    rows: earlierRows(input, options, earlier, place),
    bytesTotal: input.bytesTotal,
    bytesRead: () => input.bytesRead(),
    checksum: () => input.checksum(),
    warnings: new Map(),
    close: () => input.close(),
  };
}

function readingOf(
  { format, prefix }: EarlierOutputOptions,
  { delimiter, header }: EarlierFormat,
): InputReading {
  return {
    // Every format that retry can read is also an input format.
    format: format as SourceFormat,
    delimiter,
    comment: null,
    spaced: false,
    header: header ? "record" : "none",
    item: { name: `${prefix}item`, index: -1, by: "format", sample: null },
    kind: null,
  };
}

/** The header line of a table, or the first record of NDJSON; "" if there is none. */
async function firstRecord(options: EarlierOutputOptions): Promise<string> {
  const input = await openInput({ path: options.path }, { ...options, offset: 0 });
  try {
    const splitter = formats[options.format].split();
    for await (const chunk of input.chunks) {
      const [record] = splitter.push(chunk);
      if (record !== undefined) return decodeBytes(record);
    }
    return "";
  } finally {
    await input.close();
  }
}

async function* earlierRows(
  input: InputBytes,
  options: EarlierOutputOptions,
  layout: EarlierLayout,
  place: Place,
): AsyncGenerator<readonly EarlierRow[]> {
  const format = formats[options.format];
  const splitter = format.split();
  let headerPending = format.earlier?.header === true && place.end === 0;
  for await (const chunk of input.chunks) {
    const records = splitter.push(chunk);
    if (headerPending && records.length > 0) {
      headerPending = false;
      advance(records.shift()!, place);
    }
    if (records.length === 0) continue;
    yield records.map((record) => rowOf(record, options, layout, place));
  }
  if (splitter.end() === null) return;
  throw new FatalError(
    "output_corrupt",
    `${options.path}: line ${place.line + 1}, the last one, is cut off`,
    { hint: "outputs are complete when they appear: was this one copied only in part?" },
  );
}

function rowOf(
  record: Buffer,
  { path }: EarlierOutputOptions,
  layout: EarlierLayout,
  place: Place,
): EarlierRow {
  const text = decodeBytes(record);
  const line = place.line + 1;
  const read = layout.read(text);
  const earlier = read === null ? null : earlierFinding(read);
  if (read === null || earlier === null) {
    throw new FatalError("output_corrupt", `${path}, line ${line}: not a row of an output`);
  }
  place.row++;
  advance(record, place);
  const file = layout.optional.file === true ? { file: read.text("file") } : {};
  return {
    ...file,
    number: place.row,
    line,
    cells: read.cells,
    extra: read.extra,
    json: read.json,
    itemText: read.text("item"),
    kindText: read.text("kind"),
    fault: null,
    end: place.end,
    endLine: place.line,
    text,
    record: read,
    item: earlierItem(read),
    earlier,
  };
}

function advance(record: Buffer, place: Place): void {
  place.end += record.length;
  for (let at = record.indexOf("\n"); at >= 0; at = record.indexOf("\n", at + 1)) place.line++;
}

/** Matches lines of ECS, OCSF and Splunk, and the start of a STIX bundle and of a bulk request. */
const shapeStart = /^\{"(?:type":"bundle"|index":\{|.*"(?:repute|event)":\{"row":)/;

/**
 * Refuses an output in the shape of a security platform, with advice.
 *
 * @param what the path or flag that asks for the shape
 */
export function shapeRefused(what: string): UsageError {
  return new UsageError(
    "retry_cannot_read_shape",
    `${what} has the shape of a security platform, which retry neither reads nor writes`,
    {
      hint: "run enrich on the input again; with the same --cache DIR both times, it requests only what is missing",
    },
  );
}

function notAnOutput({ path, prefix }: EarlierOutputOptions): UsageError {
  return new UsageError(
    "not_an_output",
    `${path} does not have the columns of an output (schema version ${schemaVersion})`,
    {
      hint: `name an output of repute; if its columns start with something other than ${prefix}, set --prefix`,
    },
  );
}

import { decodeBytes } from "../../../core/bytes.js";
import { addedColumns, schemaVersion } from "../../../core/columns.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { countLineEnds } from "../../formats/reading/sample.js";
import { formats } from "../../formats/registry.js";
import type {
  RecordFormat,
  RecordLayout,
  Encoder,
  SinkFormat,
  SourceFormat,
} from "../../formats/types.js";
import { openInput } from "../../input/open-input.js";
import { type OutputForm, outputReading, outputRow, type OutputRow } from "../output-row.js";

interface TextFile {
  readonly path: string;
  readonly gzip: boolean;
}

const noRows: RecordLayout = {
  inputColumns: [],
  delimiter: null,
  shape: "nested",
  optional: {},
  read: () => null,
};

export async function formOfText(
  file: TextFile,
  format: SinkFormat,
  prefix: string,
): Promise<OutputForm> {
  const { path, gzip } = file;
  const { records } = formats[format];
  if (records === undefined) throw new TypeError(`${format} is not read back`);
  const first = await firstRecord(file, records);
  const layout = records.layout(first, prefix);
  if ((layout === null && first !== "") || (first === "" && records.header)) {
    const message = `${path} does not have the columns of an output (schema version ${schemaVersion})`;
    throw new UsageError("not_an_output", message, {
      hint: `name an output of repute; if its columns start with something other than ${prefix}, set --prefix`,
    });
  }
  const found = layout ?? noRows;
  const { inputColumns: columns, delimiter, shape, optional } = found;
  const header = records.header ? first : "";
  // Every format that can be read back is also an input format.
  const kind = format as SourceFormat;
  const reading = outputReading(prefix, kind, delimiter, records.header ? "record" : "none");
  return {
    columns,
    reading,
    optional,
    settings: { shape },
    encoder: (encoder) => copyingEncoder(encoder, found, prefix, header),
    async open(startAt) {
      const input = await openInput({ path }, { gzip, before: startAt?.input });
      const rows = rowsIn(path, input.chunks, records, found, startAt?.row ?? 0);
      return { ...input, columns, reading, rows, warnings: [] };
    },
  };
}

/** The header line of a table, or the first record of NDJSON; "" if there is none. */
async function firstRecord({ path, gzip }: TextFile, records: RecordFormat): Promise<string> {
  await using input = await openInput({ path }, { gzip });
  const splitter = records.split();
  for await (const chunk of input.chunks) {
    const [record] = splitter.push(chunk);
    if (record !== undefined) return decodeBytes(record);
  }
  return "";
}

async function* rowsIn(
  path: string,
  chunks: AsyncIterable<Buffer>,
  records: RecordFormat,
  layout: RecordLayout,
  before: number,
): AsyncGenerator<readonly OutputRow[]> {
  const splitter = records.split();
  let unread = before + (records.header ? 1 : 0);
  let number = before;
  let lines = 0;
  const rowOf = (record: Buffer): OutputRow => {
    const text = decodeBytes(record);
    const line = lines + 1;
    lines += countLineEnds(record, "lf");
    const read = layout.read(text);
    const at = { number: ++number, size: record.length, text };
    return outputRow(read, at, `${path}, line ${line}`);
  };
  for await (const chunk of chunks) {
    const found = splitter.push(chunk);
    const skipped = found.splice(0, unread);
    unread -= skipped.length;
    for (const record of skipped) lines += countLineEnds(record, "lf");
    if (found.length > 0) yield found.map(rowOf);
  }
  if (splitter.end() === null) return;
  throw new FatalError("output_corrupt", `${path}: line ${lines + 1}, the last one, is cut off`, {
    hint: "outputs are complete when they appear: was this one copied only in part?",
  });
}

/** Writes unchanged rows verbatim, and encodes the others. */
function copyingEncoder(
  encoder: Encoder,
  { shape, optional }: RecordLayout,
  prefix: string,
  header: string,
): Encoder {
  // The members of an input object go verbatim before the added ones, which are encoded without
  // columns.
  const added = addedColumns(optional);
  const ours = formats.ndjson.write({ columns: [], prefix, shape, added });
  return {
    ...encoder,
    header,
    encode: (rows) =>
      rows
        .map((enriched) => {
          const row = enriched.row as OutputRow;
          if (enriched.finding === row.before) return row.text;
          if (row.json === null) return encoder.encode([enriched]);
          const members = row.json.slice(1, -1);
          const text = ours.encode([{ ...enriched, row: { ...row, json: null, cells: [] } }]);
          return members === "" ? text : `{${members},${text.slice(1)}`;
        })
        .join(""),
  };
}

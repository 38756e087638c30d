import type { Row } from "../../core/row.js";
import { knownKind } from "../columns/choose-column.js";
import { contentLines, mapLists } from "../reading/lines.js";
import { Sample } from "../reading/sample.js";
import { splitLines } from "../record-splitter.js";
import type {
  FormatReading,
  InputReading,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
} from "../types.js";
import { findLayout } from "./ndjson-layout.js";
import { countNdjson, earlierNdjson } from "./ndjson-output.js";
import {
  faultyRow,
  itemTextOf,
  MemberPath,
  NdjsonRow,
  type ParsedLine,
  parseLine,
} from "./ndjson-row.js";
import { ndjsonEncoder, ndjsonRejects } from "./ndjson-writer.js";

/** Newline-delimited JSON, one object a line. */
export const ndjson: ReadableFormat & WritableFormat = {
  extensions: ["ndjson", "jsonl", "json"],
  read,
  rejects: ndjsonRejects,
  write: ndjsonEncoder,
  split: splitLines,
  count: countNdjson,
  keepsReceived: (shape) => shape === "nested",
  earlier: earlierNdjson,
};

async function read(
  { bytes, before, settled, pauses }: Reading,
  options: ReadOptions,
): Promise<FormatReading> {
  const comment = settled?.reading.comment ?? options.comment;
  const lines = contentLines(
    bytes,
    before?.line ?? 0,
    (text) => comment !== null && text.startsWith(comment),
  );
  const sample = new Sample(mapLists(lines, parseLine), pauses);
  const found = settled ?? (await findLayout(bytes.name, sample, options));
  const { columns } = found;
  const reading: InputReading =
    "reading" in found ? found.reading : { ...plain, comment, item: found.item, kind: found.kind };
  const toRow = rowMaker(columns, reading, before?.row ?? 0);
  return { columns, reading, rows: mapLists(sample.all(), toRow) };
}

const plain = { format: "ndjson", delimiter: null, spaced: false, header: "none" } as const;

function rowMaker(
  columns: readonly string[],
  { item, kind }: Pick<InputReading, "item" | "kind">,
  rowsBefore: number,
): (line: ParsedLine) => Row {
  const itemPath = new MemberPath(item.name);
  const kindPath = kind === null ? null : new MemberPath(kind.name);
  let number = rowsBefore;
  return (line) => {
    number += 1;
    const { object } = line;
    if (object === null) return faultyRow(line, number, columns);
    const kindText = itemTextOf(kindPath?.valueIn(object)) ?? "";
    return new NdjsonRow(
      line,
      number,
      columns,
      itemTextOf(itemPath.valueIn(object)),
      kind?.by === "neighbour" ? knownKind(kindText) : kindText,
    );
  };
}

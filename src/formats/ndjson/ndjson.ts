import type { JsonObject } from "../../core/finding.js";
import type { Row } from "../../core/row.js";
import { knownKind } from "../columns/choose-column.js";
import { contentLines, type Line } from "../reading/lines.js";
import { splitLines } from "../record-splitter.js";
import type {
  FormatReading,
  InputReading,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
} from "../types.js";
import { itemTextOf, MemberPath } from "./ndjson-row.js";
import { findPaths } from "./ndjson-layout.js";
import { countNdjson, earlierNdjson } from "./ndjson-output.js";
import { faultyRow, NdjsonRow, parseRecord } from "./ndjson-row.js";
import { NdjsonSample } from "./ndjson-sample.js";
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
  const sample = new NdjsonSample(bytes.name, lines, pauses);
  const reading: InputReading = settled?.reading ?? {
    ...plain,
    comment,
    ...(await findPaths(bytes.name, sample, options)),
  };
  const columns = settled?.columns ?? sample.columns;
  const toRows = new RowMaker(columns, reading, before?.row ?? 0);
  return { columns, reading, rows: readRows(sample, toRows) };
}

const plain = { format: "ndjson", delimiter: null, spaced: false, header: "none" } as const;

async function* readRows(sample: NdjsonSample, toRows: RowMaker): AsyncGenerator<readonly Row[]> {
  for await (const lines of sample.lines()) yield toRows.make(lines);
}

class RowMaker {
  readonly #columns: readonly string[];
  readonly #item: MemberPath;
  readonly #kind: MemberPath | null;
  readonly #ownKinds: boolean;
  #number: number;

  constructor(columns: readonly string[], { item, kind }: InputReading, rowsBefore: number) {
    this.#columns = columns;
    this.#item = new MemberPath(item.name);
    this.#kind = kind === null ? null : new MemberPath(kind.name);
    this.#ownKinds = kind?.by === "neighbour";
    this.#number = rowsBefore;
  }

  make(lines: readonly Line[]): readonly Row[] {
    return lines.map((line) => this.#toRow(line));
  }

  #toRow(line: Line): Row {
    this.#number += 1;
    const json = line.text.trim();
    const { object, reason } = parseRecord(json);
    if (object === null) return faultyRow(line, reason, this.#number, this.#columns);
    return new NdjsonRow(line, json, this.#number, this.#columns, {
      item: itemTextOf(this.#item.valueIn(object)),
      kind: this.#kindIn(object),
    });
  }

  #kindIn(object: JsonObject): string {
    const text = itemTextOf(this.#kind?.valueIn(object)) ?? "";
    return this.#ownKinds ? knownKind(text) : text;
  }
}

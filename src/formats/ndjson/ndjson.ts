import type { JsonObject } from "../../core/finding.js";
import type { Row } from "../../core/row.js";
import { contentLines } from "../text/content-lines.js";
import { knownKind } from "../known-kind.js";
import { type Line, readLines } from "../lines.js";
import { itemTextOf, MemberPath } from "./member-path.js";
import { findPaths } from "./ndjson-layout.js";
import { faultyRow, NdjsonRow } from "./ndjson-row.js";
import { NdjsonSample } from "./ndjson-sample.js";
import { type FormatReading, openSource, type Reading } from "../../inputs/open-source.js";
import { parseRecord } from "./parse-record.js";
import type { InputReading, OpenFormat, SourceOptions } from "../../inputs/types.js";

/** Newline-delimited JSON, one object a line. */
export const openNdjson: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, options));

async function begin(
  { bytes, resume, settled, pauses }: Reading,
  options: SourceOptions,
): Promise<FormatReading> {
  const comment = settled?.reading.comment ?? options.comment;
  const lines = contentLines(
    readLines(bytes, resume?.line ?? 0),
    (text) => comment !== null && text.startsWith(comment),
  );
  const sample = new NdjsonSample(bytes.name, lines, pauses);
  const reading: InputReading = settled?.reading ?? {
    ...plain,
    comment,
    ...(await findPaths(bytes.name, sample, options)),
  };
  const columns = settled?.columns ?? sample.columns;
  const toRows = new RowMaker(columns, reading, resume?.row ?? 0);
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

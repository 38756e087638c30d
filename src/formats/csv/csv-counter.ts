import { columns } from "../../core/columns.js";
import { FatalError } from "../../core/errors.js";
import { findingStatuses } from "../../core/finding.js";
import { RowCounter } from "../../core/row-counter.js";
import type { RowCounts } from "../../core/row-counter.js";
import { verdicts } from "../../core/verdict.js";
import type { AuditOptions } from "../../pipeline/finish/output-audit.js";

const quote = 0x22;
const lineFeed = 0x0a;

// The words of each list differ in their first letter; that is enough to tell them apart here.
const statusesByInitial = byInitial(findingStatuses);
const verdictsByInitial = byInitial(verdicts);

/** Counts records of CSV by a scan of the bytes: quotes, delimiters and line ends are ASCII. */
export class CsvCounter {
  readonly #rows: RowCounter;
  readonly #delimiter: number;
  readonly #statusField: number;
  /** -1 where there is none. */
  readonly #verdictField: number;
  #field = 0;
  #quoted = false;
  #status = 0;
  #verdict = 0;
  #atFieldStart = true;
  #header = true;
  /** Nothing comes behind the end of a record. */
  #isWhole = true;

  constructor({ format, inputColumns, hasVerdicts }: AuditOptions) {
    const fieldOf = (name: string): number =>
      inputColumns + columns.findIndex((column) => column.name === name);
    this.#rows = new RowCounter(hasVerdicts);
    this.#delimiter = format === "tsv" ? 0x09 : 0x2c;
    this.#statusField = fieldOf("status");
    this.#verdictField = hasVerdicts ? fieldOf("verdict") : -1;
  }

  push(chunk: Buffer): void {
    const delimiter = this.#delimiter;
    const statusField = this.#statusField;
    const verdictField = this.#verdictField;
    const lastField = Math.max(statusField, verdictField);
    let nextQuote = -1;
    // What changes with every byte is kept at hand, not in members.
    let field = this.#field;
    let quoted = this.#quoted;
    let atFieldStart = this.#atFieldStart;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]!;
      if (byte === quote) {
        quoted = !quoted;
      } else if (!quoted && byte === delimiter) {
        field++;
        atFieldStart = true;
        if (field !== lastField + 1) continue;
        // Nothing more is wanted of this record: on to its end, where no quote is in between.
        if (nextQuote < index) nextQuote = indexOrEnd(chunk, quote, index);
        const end = indexOrEnd(chunk, lineFeed, index);
        if (end >= nextQuote) continue;
        this.#endRecord();
        field = 0;
        index = end;
        continue;
      } else if (!quoted && byte === lineFeed) {
        this.#endRecord();
        field = 0;
        atFieldStart = true;
        continue;
      } else if (atFieldStart) {
        if (field === statusField) this.#status = byte;
        else if (field === verdictField) this.#verdict = byte;
      }
      atFieldStart = false;
    }
    this.#field = field;
    this.#quoted = quoted;
    this.#atFieldStart = atFieldStart;
    if (chunk.length > 0) this.#isWhole = chunk.at(-1) === lineFeed && field === 0 && !quoted;
  }

  end(): void {
    if (!this.#isWhole) {
      throw new FatalError("output_corrupt", `the output's last line is not whole`);
    }
  }

  found(): RowCounts {
    return this.#rows.found();
  }

  #endRecord(): void {
    if (this.#header) this.#header = false;
    else {
      const verdict = this.#verdict === 0 ? null : verdictsByInitial.get(this.#verdict);
      const fault = this.#rows.count(statusesByInitial.get(this.#status), verdict);
      if (fault !== null) {
        throw new FatalError("output_corrupt", `row ${this.#rows.rows} of the output has ${fault}`);
      }
    }
    this.#status = 0;
    this.#verdict = 0;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index < 0 ? chunk.length : index;
}

function byInitial<T extends string>(words: readonly T[]): ReadonlyMap<number, T> {
  return new Map(words.map((word) => [word.charCodeAt(0), word]));
}

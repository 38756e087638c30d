import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { columns } from "../core/columns.js";
import { FatalError } from "../core/errors.js";
import { findingStatuses } from "../core/finding.js";
import type { FindingStatus } from "../core/finding.js";
import type { SinkFormat } from "../sinks/types.js";
import { AuditLines } from "./audit-lines.js";
import { BundleCounter } from "./bundle-counter.js";

export interface AuditOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
  /** Number of input columns, which come first (CSV and TSV). */
  readonly inputColumns: number;
  /** Where the JSON of a line has its status; null where lines are no JSON. */
  readonly statusPath: readonly string[] | null;
}

/** What an output really holds of a run. */
export interface Audit {
  /** Bytes of the file; null for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** Null where the rows are not in the file one by one: a STIX bundle. */
  readonly rows: number | null;
  readonly statuses: Readonly<Record<FindingStatus, number>> | null;
  /** Of a STIX bundle. */
  readonly indicators?: number;
  /** SHA-256 of the file's bytes, hex; null for a database. */
  readonly sha256: string | null;
}

/**
 * Reads an output file from its first byte and counts its rows by status, or its indicators.
 *
 * @throws FatalError `output_corrupt` when it holds a row without a known status, or is no bundle
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = chunksOf(path, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  const counter = counterFor(options);
  if (options.gzip) {
    await pipeline(copies(file), createGunzip(), async (text: AsyncIterable<Buffer>) => {
      for await (const chunk of text) counter.push(chunk);
    });
  } else {
    for await (const chunk of file) counter.push(chunk);
  }
  counter.end();
  return { bytes, ...counter.found(), sha256: hash.digest("hex") };
}

/** Takes the bytes of an output, decompressed, and tells what is in it. */
interface OutputCounter {
  push(chunk: Buffer): void;
  end(): void;
  found(): Omit<Audit, "bytes" | "sha256">;
}

function counterFor(options: AuditOptions): OutputCounter {
  if (options.format === "stix") return new BundleCounter();
  const { statusPath } = options;
  return statusPath === null ? new CsvCounter(options) : new JsonCounter(statusPath);
}

/**
 * The bytes of a file, all through two buffers, one of which is filled while the other is looked at:
 * whoever takes a chunk must be done with it before taking the next.
 */
async function* chunksOf(path: string, visit: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  const fill = (buffer: Buffer): Promise<Buffer> => {
    const filled = handle
      .read(buffer, 0, buffer.length)
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    // Whoever asks for it learns that it failed; until then, or when nobody does, that is no fault.
    filled.catch(() => undefined);
    return filled;
  };
  const [first, second] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let filling = fill(first);
  try {
    for (let next = second; ; next = next === first ? second : first) {
      const chunk = await filling;
      if (chunk.length === 0) return;
      filling = fill(next);
      visit(chunk);
      yield chunk;
    }
  } finally {
    await filling.catch(() => undefined);
    await handle.close();
  }
}

const chunkBytes = 256 * 1024;

/** A stream takes more than one chunk at a time. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/** The statuses differ in their first letter; that is enough to tell them apart while scanning. */
const byInitial = new Map(findingStatuses.map((status) => [status.charCodeAt(0), status]));

class Counter {
  rows = 0;
  readonly statuses = Object.fromEntries(findingStatuses.map((s) => [s, 0])) as Record<
    FindingStatus,
    number
  >;

  found(): Omit<Audit, "bytes" | "sha256"> {
    return { rows: this.rows, statuses: this.statuses };
  }

  protected count(status: FindingStatus | undefined): void {
    this.rows++;
    if (status === undefined) {
      throw new FatalError("output_corrupt", `row ${this.rows} of the output has no status`);
    }
    this.statuses[status]++;
  }
}

const quote = 0x22;
const lineFeed = 0x0a;

/** Counts records of CSV by a scan of the bytes: quotes, delimiters and line ends are ASCII. */
class CsvCounter extends Counter {
  readonly #delimiter: number;
  readonly #statusField: number;
  #field = 0;
  #quoted = false;
  #initial = 0;
  #atFieldStart = true;
  #header = true;
  /** Nothing comes behind the end of a record. */
  #isWhole = true;

  constructor(options: AuditOptions) {
    super();
    this.#delimiter = options.format === "tsv" ? 0x09 : 0x2c;
    this.#statusField =
      options.inputColumns + columns.findIndex((column) => column.name === "status");
  }

  push(chunk: Buffer): void {
    const delimiter = this.#delimiter;
    const statusField = this.#statusField;
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
        if (field !== statusField + 1) continue;
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
      } else if (atFieldStart && field === statusField) {
        this.#initial = byte;
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

  #endRecord(): void {
    if (this.#header) this.#header = false;
    else this.count(byInitial.get(this.#initial));
    this.#initial = 0;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index < 0 ? chunk.length : index;
}

class JsonCounter extends Counter {
  readonly #statusPath: readonly string[];
  readonly #lines = new AuditLines((line) => this.#count(line));

  constructor(statusPath: readonly string[]) {
    super();
    this.#statusPath = statusPath;
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  #count(line: string): void {
    let value: unknown = this.#parse(line);
    for (const member of this.#statusPath) {
      value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[member];
    }
    this.count(findingStatuses.find((known) => known === value));
  }

  #parse(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch (error) {
      const message = `row ${this.rows + 1} of the output is no JSON`;
      throw new FatalError("output_corrupt", message, { cause: error });
    }
  }
}

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { columns } from "../core/columns.js";
import { FatalError } from "../core/errors.js";
import { findingStatuses } from "../core/finding.js";
import type { FindingStatus } from "../core/finding.js";
import type { SinkFormat } from "../sinks/types.js";

export interface AuditOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
  /** Number of input columns, which come first (CSV and TSV). */
  readonly inputColumns: number;
  /** Reads the status of one NDJSON record. */
  readonly statusMember: (record: unknown) => unknown;
}

/** What an output file really holds. */
export interface Audit {
  readonly bytes: number;
  readonly rows: number;
  readonly statuses: Record<FindingStatus, number>;
  /** SHA-256 of the file's bytes, hex. */
  readonly sha256: string;
}

/**
 * Reads an output file from its first byte and counts its rows by status.
 *
 * @throws FatalError `output_corrupt` when it holds a row without a known status
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = chunksOf(path, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  const counter = options.format === "ndjson" ? new JsonCounter(options) : new CsvCounter(options);
  if (options.gzip) {
    await pipeline(copies(file), createGunzip(), async (text: AsyncIterable<Buffer>) => {
      for await (const chunk of text) counter.push(chunk);
    });
  } else {
    for await (const chunk of file) counter.push(chunk);
  }
  counter.end();
  return { bytes, rows: counter.rows, statuses: counter.statuses, sha256: hash.digest("hex") };
}

/** The bytes of a file, all through one buffer: whoever takes a chunk must be done with it. */
async function* chunksOf(path: string, visit: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(256 * 1024);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      const chunk = buffer.subarray(0, bytesRead);
      visit(chunk);
      yield chunk;
    }
  } finally {
    await handle.close();
  }
}

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
  #pending = false;

  constructor(options: AuditOptions) {
    super();
    this.#delimiter = options.format === "tsv" ? 0x09 : 0x2c;
    this.#statusField =
      options.inputColumns + columns.findIndex((column) => column.name === "status");
  }

  push(chunk: Buffer): void {
    const delimiter = this.#delimiter;
    let nextQuote = -1;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]!;
      if (byte === quote) {
        this.#quoted = !this.#quoted;
      } else if (!this.#quoted && byte === delimiter) {
        this.#field++;
        this.#atFieldStart = true;
        if (this.#field !== this.#statusField + 1) continue;
        // Nothing more is wanted of this record: on to its end, where no quote is in between.
        if (nextQuote < index) nextQuote = indexOrEnd(chunk, quote, index);
        const end = indexOrEnd(chunk, lineFeed, index);
        if (end < nextQuote) {
          this.#endRecord();
          index = end;
        }
        continue;
      } else if (!this.#quoted && byte === lineFeed) {
        this.#endRecord();
        continue;
      } else if (this.#atFieldStart && this.#field === this.#statusField) {
        this.#initial = byte;
      }
      this.#atFieldStart = false;
      this.#pending = true;
    }
  }

  end(): void {
    if (this.#pending || this.#quoted) {
      throw new FatalError("output_corrupt", `the output's last line is not whole`);
    }
  }

  #endRecord(): void {
    if (this.#header) this.#header = false;
    else this.count(byInitial.get(this.#initial));
    this.#field = 0;
    this.#initial = 0;
    this.#atFieldStart = true;
    this.#pending = false;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index < 0 ? chunk.length : index;
}

class JsonCounter extends Counter {
  readonly #statusMember: (record: unknown) => unknown;
  #rest: Buffer[] = [];

  constructor(options: AuditOptions) {
    super();
    this.#statusMember = options.statusMember;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#rest).toString();
      this.#rest = [];
      start = end + 1;
      const status = this.#statusMember(JSON.parse(line));
      this.count(findingStatuses.find((known) => known === status));
    }
    // The chunk's bytes are overwritten by the next one's.
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
  }

  end(): void {
    if (this.#rest.length > 0) {
      throw new FatalError("output_corrupt", `the output's last line is not whole`);
    }
  }
}

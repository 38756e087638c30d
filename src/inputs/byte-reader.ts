import { UsageError } from "../core/errors.js";

/** Takes bytes off a stream of chunks, and gives back what was too much. */
export class ByteReader {
  readonly #chunks: AsyncGenerator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #offset = 0;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Bytes taken so far. */
  get offset(): number {
    return this.#offset;
  }

  /** Whatever comes next, however much; null at the end. */
  async chunk(): Promise<Buffer | null> {
    const chunk = (await this.#fill(1)) ? this.#rest : null;
    this.#rest = Buffer.alloc(0);
    this.#offset += chunk?.length ?? 0;
    return chunk;
  }

  /** Exactly so many bytes; null where fewer are left, and those are taken too. */
  async take(count: number): Promise<Buffer | null> {
    const whole = await this.#fill(count);
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    this.#offset += taken.length;
    return whole ? taken : null;
  }

  /** Gives back bytes at the end of what was taken last. */
  putBack(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([bytes, this.#rest]);
    this.#offset -= bytes.length;
  }

  async #fill(count: number): Promise<boolean> {
    while (this.#rest.length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    }
    return true;
  }
}

/** What files that are no text begin with, as one character a byte. */
const signatures: readonly (readonly [start: string, kind: string])[] = [
  ["PK\x03\x04", "a ZIP archive or an Excel workbook (.xlsx)"],
  ["PK\x05\x06", "an empty ZIP archive"],
  ["\xd0\xcf\x11\xe0", "an Excel workbook (.xls)"],
  ["%PDF", "a PDF document"],
  ["PAR1", "a Parquet file"],
  ["SQLi", "a SQLite database"],
  ["7z\xbc\xaf", "a 7-Zip archive"],
  ["\x28\xb5\x2f\xfd", "compressed with zstd"],
  ["\xfd7zX", "compressed with xz"],
  ["BZh9", "compressed with bzip2"],
];

/** Bytes that tell. */
export const signatureBytes = 4;

/**
 * Refuses an input that is certainly no text.
 *
 * @param head its first bytes, decompressed where it was gzip
 * @throws UsageError `input_binary`
 */
export function refuseBinary(head: Buffer, name: string): void {
  const start = head.toString("latin1", 0, signatureBytes);
  const kind = signatures.find(([signature]) => signature === start)?.[1];
  if (kind === undefined) return;
  throw new UsageError("input_binary", `${name} is not text: it is ${kind}`, {
    hint: "Give it as CSV, TSV, NDJSON or a list; gzip is read as it is.",
  });
}

export type Utf16 = "utf-16le" | "utf-16be";

/** UTF-16 by its byte order mark, or null. */
export function utf16Of(head: Buffer): Utf16 | null {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return null;
}

/** The same text in UTF-8, without the byte order mark; what is no UTF-16 becomes U+FFFD. */
export async function* transcode(
  chunks: AsyncGenerator<Buffer>,
  encoding: Utf16,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== "") yield Buffer.from(text, "utf8");
  }
  const rest = decoder.decode();
  if (rest !== "") yield Buffer.from(rest, "utf8");
}

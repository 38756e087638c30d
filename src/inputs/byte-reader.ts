import { FatalError } from "../core/errors.js";

/** Reads exact byte counts from a stream of chunks. Surplus bytes can be put back. */
export class ByteReader {
  readonly #chunks: AsyncGenerator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #offset = 0;

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Number of bytes taken. */
  get offset(): number {
    return this.#offset;
  }

  /** The next chunk, of any size; null at the end. */
  async chunk(): Promise<Buffer | null> {
    const chunk = (await this.#fill(1)) ? this.#rest : null;
    this.#rest = Buffer.alloc(0);
    this.#offset += chunk?.length ?? 0;
    return chunk;
  }

  /** Exactly `count` bytes. If fewer are left, consumes them and returns null. */
  async take(count: number): Promise<Buffer | null> {
    const whole = await this.#fill(count);
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    this.#offset += taken.length;
    return whole ? taken : null;
  }

  /** Puts back the last bytes taken. */
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

/** Whether bytes start like gzip data (RFC 1952, section 2.3.1: ID1, ID2). */
export function looksGzipped(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

export type Utf16 = "utf-16le" | "utf-16be";

/** Detects UTF-16 by its byte order mark; null if there is none. */
export function utf16Of(head: Buffer): Utf16 | null {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return null;
}

/**
 * Converts to UTF-8 without byte order mark. Invalid UTF-16 becomes U+FFFD; of other encodings,
 * nothing is replaced.
 *
 * @throws FatalError `input_encoding` with the offset of the bytes that are invalid
 */
export async function* transcode(
  chunks: AsyncGenerator<Buffer>,
  encoding: string,
  name: string,
): AsyncGenerator<Buffer> {
  const isUtf16 = new TextDecoder(encoding).encoding.startsWith("utf-16");
  const decoder = new TextDecoder(encoding, { fatal: !isUtf16 });
  let offset = 0;
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }), "utf8");
    } catch (error) {
      throw new FatalError(
        "input_encoding",
        `${name} is not ${encoding}: see from byte ${offset} on`,
        {
          cause: error,
          hint: "name another encoding with --encoding",
        },
      );
    }
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    if (text.length > 0) yield text;
    offset += chunk.length;
  }
  const rest = decode();
  if (rest.length > 0) yield rest;
}

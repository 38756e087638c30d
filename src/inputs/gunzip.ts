import { crc32, createInflateRaw } from "node:zlib";
import { FatalError } from "../core/errors.js";
import { ByteReader, looksGzipped } from "./byte-reader.js";

/**
 * Decompresses gzip data with any number of members (RFC 1952, section 2.2). Ignores zeros after the
 * last member. Garbage there is an error once all data is returned; of a damaged member, at most the
 * 64 KiB before the damage are missing.
 *
 * Members are split here because Node's Gunzip fails on trailing garbage and then drops the data it
 * decompressed from the same chunk.
 *
 * @throws FatalError `input_gzip` with the byte offset in the compressed input
 */
export async function* gunzip(
  compressed: AsyncGenerator<Buffer>,
  name: string,
): AsyncGenerator<Buffer> {
  const bytes = new ByteReader(compressed);
  do {
    await skipHeader(bytes, name);
    yield* inflate(bytes, name);
  } while (await isNextMember(bytes, name));
}

/** Zeros pad files written to tapes and block devices. A member after them counts as garbage. */
async function isNextMember(bytes: ByteReader, name: string): Promise<boolean> {
  const { offset } = bytes;
  const head = await bytes.chunk();
  if (head === null) return false;
  bytes.putBack(head);
  const start = (await bytes.take(2)) ?? head;
  if (looksGzipped(start)) {
    bytes.putBack(start);
    return true;
  }
  for (let chunk: Buffer | null = start; chunk !== null; chunk = await bytes.chunk()) {
    if (chunk.every((byte) => byte === 0)) continue;
    const message = `${name} has trailing garbage: no gzip data from byte ${offset} on`;
    throw new FatalError("input_gzip", message, { hint: repairHint });
  }
  return false;
}

/** Skips a member's header (RFC 1952, section 2.3.1). */
async function skipHeader(bytes: ByteReader, name: string): Promise<void> {
  const take = async (count: number): Promise<Buffer> => {
    const taken = await bytes.take(count);
    if (taken === null) throw cutOff(name, bytes);
    return taken;
  };
  const skipText = async (): Promise<void> => {
    while ((await take(1))[0] !== 0);
  };
  const fixed = await take(10);
  const flags = fixed[3] ?? 0;
  if (fixed[2] !== 8 || (flags & 0xe0) !== 0) {
    throw damaged(name, bytes, "unknown compression method or flags");
  }
  if ((flags & flag.extra) !== 0) await take((await take(2)).readUInt16LE());
  if ((flags & flag.name) !== 0) await skipText();
  if ((flags & flag.comment) !== 0) await skipText();
  if ((flags & flag.headerCrc) !== 0) await take(2);
}

const flag = { headerCrc: 2, extra: 4, name: 8, comment: 16 };

/** Decompresses one member and checks its trailer. */
async function* inflate(bytes: ByteReader, name: string): AsyncGenerator<Buffer> {
  const inflater = createInflateRaw({ chunkSize: 65_536 });
  let output: Buffer[] = [];
  let fault: Error | null = null;
  let failed = (_error: Error): void => undefined;
  inflater.on("data", (data: Buffer) => output.push(data));
  inflater.on("error", (error) => failed((fault ??= error)));
  // `end` follows the last data event.
  const ended = new Promise((resolve) => inflater.once("end", resolve));
  let checksum = 0;
  let size = 0;
  try {
    for (let fed = 0, over = false; !over;) {
      const chunk = await bytes.chunk();
      if (chunk === null) throw cutOff(name, bytes);
      fed += chunk.length;
      const error = await new Promise<Error | null>((resolve) => {
        // After output of the same chunk, an error never reaches the callback.
        failed = resolve;
        inflater.write(chunk, (failure) => resolve(failure ?? null));
      });
      if (error !== null) {
        yield* output;
        throw damaged(name, bytes, (fault ?? error).message, error);
      }
      over = inflater.bytesWritten < fed;
      if (over) {
        await ended;
        bytes.putBack(chunk.subarray(chunk.length - (fed - inflater.bytesWritten)));
      }
      for (const data of output) {
        checksum = crc32(data, checksum);
        size += data.length;
        yield data;
      }
      output = [];
    }
  } finally {
    inflater.destroy();
  }
  const trailer = await bytes.take(8);
  if (trailer === null) throw cutOff(name, bytes);
  if (trailer.readUInt32LE(0) !== checksum) throw damaged(name, bytes, "incorrect data check");
  if (trailer.readUInt32LE(4) !== size % 2 ** 32) throw damaged(name, bytes, "incorrect length");
}

/** The error for an input named or declared as gzip that isn't. */
export function notGzipError(name: string): FatalError {
  const message = `${name} is not gzip: its first bytes (from byte 0) are not a gzip header`;
  return new FatalError("input_gzip", message, {
    hint: "if it isn't compressed, rename it without .gz",
  });
}

const repairHint =
  "fetch or write the file again; `gzip -t FILE` checks it; to use the readable part: `zcat FILE | repute enrich`";

function cutOff(name: string, { offset }: ByteReader): FatalError {
  const message = `${name} is truncated: its gzip data ends at byte ${offset}`;
  return new FatalError("input_gzip", message, { hint: repairHint });
}

function damaged(name: string, { offset }: ByteReader, what: string, cause?: Error): FatalError {
  const message = `${name} is damaged: invalid gzip data before byte ${offset} (${what})`;
  return new FatalError("input_gzip", message, { cause, hint: repairHint });
}

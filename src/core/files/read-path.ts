import { closeSync, constants, createReadStream, openSync, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { UsageError } from "../errors.js";
import { faultReason } from "./system-fault.js";

/**
 * Opens a named pipe or a terminal; null for anything else. Opening or reading one as a
 * file blocks a thread until the other side acts, which neither closing nor exiting can interrupt.
 */
export function openSilent(path: string, facts: Stats): Readable | null {
  if (!facts.isFIFO() && !facts.isCharacterDevice()) return null;
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (facts.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (isatty(fd)) return new ReadStream(fd);
  closeSync(fd);
  return null;
}

interface ReadPathOptions {
  /** Aborts waiting for a pipe or a terminal. */
  readonly signal?: AbortSignal | undefined;
  /** Bytes after which reading stops. @default none */
  readonly limit?: number;
}

/**
 * Reads a whole file, named pipe or device that a setting or an operand names.
 *
 * @param what the file in the message
 * @throws UsageError with this code; the signal's reason
 */
export async function readNamed(
  path: string,
  code: string,
  what: string,
  { signal, limit = Number.POSITIVE_INFINITY }: ReadPathOptions = {},
): Promise<Buffer> {
  try {
    const stream = openSilent(path, await stat(path)) ?? createReadStream(path);
    if (signal !== undefined) addAbortSignal(signal, stream);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) break;
    }
    return Buffer.concat(chunks).subarray(0, limit);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new UsageError(code, `cannot read ${what}: ${fileFault(cause)}`, { cause });
  }
}

/** Why a file could not be read. */
export function fileFault(error: unknown): string {
  const { code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code === "ENOENT" ? "no such file" : faultReason(error);
}

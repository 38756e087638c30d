import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { CliContext } from "../command.js";
import { shellWord } from "../terminal/shell-word.js";

/** Longest key, in characters: servers take no longer headers. */
const longestKey = 16 * 1024;

/** Longest file that holds one key, in bytes; white space may surround it. */
export const longestKeyFile = longestKey + 1024;

type KeyFileContext = Pick<CliContext, "reporter" | "signal">;

/**
 * Reads a file that holds secrets, and warns when other users can read it. Named pipes, process
 * substitution and devices are read too, never further than the limit.
 *
 * @returns the bytes, or null when there are more than `limit`
 * @throws the signal's reason when it aborts first; errors of the file system
 */
export async function readKeyFile(
  path: string,
  limit: number,
  { reporter, signal }: KeyFileContext,
): Promise<Buffer | null> {
  const stats = await stat(path);
  if (stats.isFile() && process.platform !== "win32" && (stats.mode & 0o066) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(3, "0");
    reporter.warning(
      `other users can read or change ${path} (mode ${mode}), which holds a secret: chmod 600 ${shellWord(path)}`,
    );
  }
  // Opened in the usual way, a named pipe without a writer blocks a thread, and with it the exit.
  const blocking = stats.isFIFO() ? constants.O_NONBLOCK : 0;
  const file = await open(path, constants.O_RDONLY | blocking);
  try {
    const stream: Readable = stats.isFIFO()
      ? new Socket({ fd: file.fd, readable: true, writable: false, signal })
      : file.createReadStream({ end: limit, autoClose: false, signal });
    return await bytesOf(stream, limit);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await file.close().catch(() => undefined); // the socket has closed it
  }
}

/** Why a text cannot travel as the value of a header (RFC 9110, 5.5); null when it can. */
export function keyFault(text: string): string | null {
  if (text === "") return "it is empty";
  if (text.length > longestKey) return `it is longer than ${longestKey} characters`;
  if (/[\r\n]/.test(text)) return "it has a line break inside";
  if (/\s/.test(text)) return "it has a space inside";
  if (!/^[\u0021-\u007E]+$/.test(text)) return "it has characters that no HTTP header can carry";
  return null;
}

async function bytesOf(stream: Readable, limit: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { ArrivalLogOptions } from "./messages.js";

/**
 * Before the answers of one write: the CRC-32 of all that follows, the length with this head, the
 * number of the file's turn, how many answers, how many bytes of paths, nothing, and when it was
 * written (milliseconds since 1970, 64-bit float).
 */
export const frameHeadBytes = 32;

/** A file has so many answers at least, so that the files' turns are long, */
const answersEach = 512;

/** unless it has become so long, in bytes; it is cut off then before its next turn. */
const longFile = 16 * 1024 * 1024;

/** Answers that come to more than this together, in bytes, are not kept: some bodies have megabytes. */
export const longestFrame = 4 * 1024 * 1024;

/** Names of the two files, which are written in turn. */
export const arrivalFiles = ["arrivals-0", "arrivals-1"] as const;

/** What stands before a frame; see `frameHeadBytes`. */
export interface FrameHead {
  readonly crc: number;
  readonly bytes: number;
  readonly turn: number;
  readonly count: number;
  readonly pathBytes: number;
  readonly time: number;
}

/** The head of the frame at a position of a buffer that has all of it. */
export function readFrameHead(bytes: Buffer, at: number): FrameHead {
  return {
    crc: bytes.readUInt32LE(at),
    bytes: bytes.readUInt32LE(at + 4),
    turn: bytes.readUInt32LE(at + 8),
    count: bytes.readUInt32LE(at + 12),
    pathBytes: bytes.readUInt32LE(at + 16),
    time: bytes.readDoubleLE(at + 24),
  };
}

/**
 * Keeps the latest answers from a kill until whoever asked has kept them in its own way: an answer
 * that waits on its way from one thread to the other would have been asked for in vain.
 *
 * Two files are written in turn, each from its beginning, over what was there: a page that the system
 * has in memory costs a third of one that it has to find. The latest `answers` are always in the two.
 */
export class ArrivalLog {
  readonly #options: ArrivalLogOptions;
  readonly #now: () => number;
  /** Opened with the first write. */
  #files: readonly number[] | null = null;
  #turn = 0;
  #at = 0;
  #count = 0;

  /** @param now milliseconds since 1970 */
  constructor(options: ArrivalLogOptions, now: () => number = Date.now) {
    this.#options = options;
    this.#now = now;
  }

  /**
   * Writes a frame: its first `frameHeadBytes` are filled in here. It is safe from the end of the
   * process when this returns, unless it is longer than 4 MiB: it is not kept then.
   *
   * @param pathBytes length of the paths in it
   * @throws what the file system says
   */
  write(frame: Buffer, count: number, pathBytes: number): void {
    if (frame.length > longestFrame) return;
    const files = (this.#files ??= this.#open());
    const isLong = this.#count >= answersEach || this.#at >= longFile;
    if (isLong && this.#count >= this.#options.answers) {
      this.#turn++;
      this.#at = 0;
      this.#count = 0;
    }
    const file = files[this.#turn % 2]!;
    if (this.#at === 0) cutLong(file);
    frame.writeUInt32LE(frame.length, 4);
    frame.writeUInt32LE(this.#turn, 8);
    frame.writeUInt32LE(count, 12);
    frame.writeUInt32LE(pathBytes, 16);
    frame.writeDoubleLE(this.#now(), 24);
    frame.writeUInt32LE(crc32(frame.subarray(4)), 0);
    for (let done = 0; done < frame.length;) {
      const written = writeSync(file, frame, done, frame.length - done, this.#at + done);
      if (written === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
      done += written;
    }
    this.#at += frame.length;
    this.#count += count;
  }

  close(): void {
    for (const file of this.#files ?? []) closeSync(file);
    this.#files = null;
  }

  #open(): readonly number[] {
    const files: number[] = [];
    try {
      for (const name of arrivalFiles) {
        const path = join(this.#options.folder, name);
        files.push(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
      }
      this.#turn = Math.max(...files.map(turnOf)) + 1;
      return files;
    } catch (error) {
      for (const file of files) closeSync(file);
      throw error;
    }
  }
}

/** The turn in which a file was last begun; 0 for one that never was. */
function turnOf(file: number): number {
  const head = Buffer.alloc(frameHeadBytes);
  return readSync(file, head, 0, frameHeadBytes, 0) < frameHeadBytes
    ? 0
    : readFrameHead(head, 0).turn;
}

function cutLong(file: number): void {
  const one = Buffer.alloc(1);
  if (readSync(file, one, 0, 1, longFile) > 0) ftruncateSync(file, 0);
}

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Answer } from "../types.js";
import { AnswerReader, numberBytes } from "./answer-pack.js";
import {
  arrivalFiles,
  type FrameHead,
  frameHeadBytes,
  longestFrame,
  readFrameHead,
} from "./arrival-log.js";

/** An answer that a log of arrivals has. */
export interface Arrived {
  /** What was asked: the path below the base address, encoded. */
  readonly path: string;
  /** Without its headers, which the log leaves out. */
  readonly answer: Answer;
  /** When it came, in milliseconds since 1970. */
  readonly arrivedAt: number;
}

/**
 * The answers that a log of arrivals has, in the order in which they came. A frame that is not as it
 * was written ends its file: what came after it was never told to anybody. So does whatever cannot be
 * read: the log spares requests, and no more.
 *
 * @param folder of an `ArrivalLog` that nobody writes; none where there is no log
 */
export function* readArrivals(folder: string): Generator<Arrived, void, undefined> {
  const files = arrivalFiles
    .map((name) => new ArrivalFile(join(folder, name)))
    .sort((one, other) => one.turn - other.turn);
  try {
    for (const file of files) yield* file.arrived();
  } finally {
    for (const file of files) file.close();
  }
}

/** One of the files; one that cannot be read is empty. */
class ArrivalFile {
  /** The turn in which it was begun; 0 where there is nothing. */
  readonly turn: number;
  readonly #file: number | null;

  constructor(path: string) {
    this.#file = opened(path);
    this.turn = this.#headAt(0)?.turn ?? 0;
  }

  *arrived(): Generator<Arrived, void, undefined> {
    let at = 0;
    for (let head = this.#headAt(0); head !== null; head = this.#headAt(at)) {
      // Behind the last frame of this turn there are some of an earlier one.
      if (head.turn !== this.turn || head.bytes > longestFrame) return;
      const frame = this.#bytesAt(at, head.bytes);
      if (frame === null || !isWhole(frame, head)) return;
      yield* answersOf(frame, head);
      at += head.bytes;
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }

  #headAt(at: number): FrameHead | null {
    const bytes = this.#bytesAt(at, frameHeadBytes);
    return bytes === null ? null : readFrameHead(bytes, 0);
  }

  #bytesAt(at: number, length: number): Buffer | null {
    if (this.#file === null) return null;
    // Memory of its own, from the beginning: numbers are read where a multiple of four begins.
    const bytes = Buffer.allocUnsafeSlow(length);
    try {
      return readSync(this.#file, bytes, 0, length, at) === length ? bytes : null;
    } catch {
      return null;
    }
  }
}

function opened(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}

function isWhole(frame: Buffer, { bytes, count, pathBytes, crc }: FrameHead): boolean {
  return (
    frameHeadBytes + numberBytes(count) + pathBytes <= bytes && crc32(frame.subarray(4)) === crc
  );
}

function answersOf(frame: Buffer, { count, pathBytes, time }: FrameHead): Arrived[] {
  const answers = frame.buffer as ArrayBuffer;
  const reader = new AnswerReader({ answers, offset: frameHeadBytes, count, headers: [] });
  const paths = frame.toString("latin1", reader.end, reader.end + pathBytes).split("\n");
  const arrived: Arrived[] = [];
  while (
    reader.next((_, answer) => {
      arrived.push({ path: paths[arrived.length] ?? "", answer, arrivedAt: time });
    })
  );
  return arrived;
}

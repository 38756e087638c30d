import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Answer } from "../types.js";
import { AnswerReader } from "./answer-pack.js";
import { arrivalFiles, type FrameHead, frameHeadBytes, readFrameHead } from "./arrival-log.js";

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
 * was written ends its file: what came after it was never told to anybody.
 *
 * @param folder of an `ArrivalLog` that nobody writes; none where there is no log
 * @throws what the file system says
 */
export function* readArrivals(folder: string): Generator<Arrived, void, undefined> {
  const files = arrivalFiles
    .map((name) => contents(join(folder, name)))
    .filter((bytes) => bytes.length >= frameHeadBytes)
    .sort((one, other) => readFrameHead(one, 0).turn - readFrameHead(other, 0).turn);
  for (const bytes of files) yield* arrivedIn(bytes);
}

function* arrivedIn(bytes: Buffer): Generator<Arrived, void, undefined> {
  const { turn } = readFrameHead(bytes, 0);
  for (let at = 0; at + frameHeadBytes <= bytes.length;) {
    const head = readFrameHead(bytes, at);
    // Behind the last frame of this turn there are some of an earlier one.
    if (head.turn !== turn || !isWhole(bytes, at, head)) return;
    yield* answersOf(bytes.subarray(at, at + head.bytes), head);
    at += head.bytes;
  }
}

function isWhole(bytes: Buffer, at: number, head: FrameHead): boolean {
  const end = at + head.bytes;
  if (head.bytes < frameHeadBytes || end > bytes.length) return false;
  return crc32(bytes.subarray(at + 4, end)) === head.crc;
}

function answersOf(frame: Buffer, { count, pathBytes, time }: FrameHead): Arrived[] {
  // The numbers in it are read where a multiple of four begins.
  const answers = new Uint8Array(frame).buffer;
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

function contents(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

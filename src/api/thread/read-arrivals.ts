import { closeSync, fstatSync, openSync, readSync } from "node:fs";
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
 * The answers that a log of arrivals has, in the order in which they came. Frames that are damaged
 * are passed over. The log spares requests, and no more: what cannot be read is missing from it.
 *
 * @param folder of an `ArrivalLog` that nobody writes; none where there is no log
 * @param onDamage told of damaged frames. A last frame that was cut off is none: a kill does that.
 */
export function* readArrivals(
  folder: string,
  onDamage: (message: string) => void = () => undefined,
): Generator<Arrived, void, undefined> {
  const files = arrivalFiles
    .map((name) => new ArrivalFile(join(folder, name), onDamage))
    .sort((one, other) => one.turn - other.turn);
  try {
    for (const file of files) yield* file.arrived();
  } finally {
    for (const file of files) file.close();
  }
}

/** A frame that is as it was written. */
interface WholeFrame {
  readonly at: number;
  readonly head: FrameHead;
  readonly bytes: Buffer;
}

/** One of the files; one that cannot be read is empty. */
class ArrivalFile {
  /** The turn in which it was begun; 0 where there is nothing. */
  readonly turn: number;
  readonly #path: string;
  readonly #onDamage: (message: string) => void;
  readonly #file: number | null;
  readonly #first: WholeFrame | null;

  constructor(path: string, onDamage: (message: string) => void) {
    this.#path = path;
    this.#onDamage = onDamage;
    this.#file = opened(path);
    this.#first = this.#frameAt(0) ?? this.#frameBehind(0, null);
    this.turn = this.#first?.head.turn ?? 0;
  }

  *arrived(): Generator<Arrived, void, undefined> {
    let at = 0;
    for (let frame = this.#first; frame !== null;) {
      if (frame.at > at) {
        this.#onDamage(
          `${this.#path} is damaged between byte ${at} and byte ${frame.at}: lookups answered there may be repeated`,
        );
      }
      yield* answersOf(frame.bytes, frame.head);
      at = frame.at + frame.head.bytes;
      const next = this.#frameAt(at);
      // Behind the last frame of this turn there are some of an earlier one.
      frame = next?.head.turn === this.turn ? next : this.#frameBehind(at, this.turn);
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }

  #frameAt(at: number): WholeFrame | null {
    const start = this.#bytesAt(at, frameHeadBytes);
    const head = start === null ? null : readFrameHead(start, 0);
    if (head === null || !mayBeFrame(head)) return null;
    const bytes = this.#bytesAt(at, head.bytes);
    return bytes !== null && crc32(bytes.subarray(4)) === head.crc ? { at, head, bytes } : null;
  }

  /** The first whole frame behind a place; of this turn, if one is given. */
  #frameBehind(place: number, turn: number | null): WholeFrame | null {
    const rest = this.#restFrom(place + 1);
    for (let at = 0; at + frameHeadBytes <= rest.length; at++) {
      if (turn !== null && rest.readUInt32LE(at + 8) !== turn) continue;
      if (!mayBeFrame(readFrameHead(rest, at))) continue;
      const frame = this.#frameAt(place + 1 + at);
      if (frame !== null) return frame;
    }
    return null;
  }

  #restFrom(at: number): Buffer {
    const size = this.#file === null ? 0 : fstatSync(this.#file).size;
    return this.#bytesAt(at, Math.max(0, size - at)) ?? Buffer.alloc(0);
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

function mayBeFrame({ bytes, count, pathBytes }: FrameHead): boolean {
  return bytes <= longestFrame && frameHeadBytes + numberBytes(count) + pathBytes <= bytes;
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

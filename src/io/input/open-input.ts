import type { ChecksumState } from "../../core/files/checksum.js";
import { Pauses, peek } from "../formats/reading/sample.js";
import { type LineEnd, limits, Warnings } from "../formats/reading/lines.js";
import { decode, isPlain, markLength, skip } from "./decode.js";
import { refuseBinary, refuseMarkup } from "./refuse-binary.js";
import { tooShortError } from "./verify-input.js";
import { holdMarked } from "./tlp-rows.js";
import { openStored } from "./stored-input.js";
import {
  type AnyInput,
  type Encoding,
  type InputBytes,
  isTableCopy,
  type OpenedSource,
  type SourceOptions,
  type StoredInput,
} from "./types.js";
import { systemClock } from "../../core/clock.js";
import type { Row } from "../../core/row.js";
import { readCells } from "../formats/csv/cells.js";
import { formats } from "../formats/registry.js";

export interface InputOptions extends Encoding {
  /**
   * Decompressed bytes to skip. Uncompressed files are read from there; anything else is read and
   * discarded.
   */
  readonly offset: number;
  /** Checksum of the stored bytes read in earlier sessions, which must still match. */
  readonly before?: ChecksumState | undefined;
  /** Read size of a file. @default small: all rows of a chunk stay in memory */
  readonly chunkBytes?: number | undefined;
  /** Read HTML and XML, too. @default false: they have no rows */
  readonly markup?: boolean;
}

/**
 * Opens a file or a stream.
 * @throws UsageError `input_not_found`, `input_is_directory`
 * @throws FatalError `input_unreadable`, `input_gzip`, and `input_changed` if it ends before
 *   `offset` or differs from what was read before
 */
export async function openInput(input: AnyInput, options: InputOptions): Promise<InputBytes> {
  if ("opened" in input) return fromOpened(input.opened, options.offset);
  const stored = await openStored(input, options.before, options.chunkBytes);
  try {
    const sought = options.offset > 0 ? await seekPlain(stored, options) : null;
    return sought ?? (await readWhole(stored, options));
  } catch (error) {
    await stored.close();
    throw error;
  }
}

function fromOpened(opened: InputBytes, offset: number): InputBytes {
  if (offset <= opened.start) return opened;
  return {
    ...opened,
    chunks: skip(opened.chunks, offset - opened.start, opened.name),
    start: offset,
  };
}

/** Seeks in an uncompressed file; null if the bytes before the offset must be read. */
async function seekPlain(stored: StoredInput, options: InputOptions): Promise<InputBytes | null> {
  if (stored.head === null || options.gzip) return null;
  const found = await stored.head();
  if (!isPlain(found, options)) return null;
  if (options.offset > (stored.size ?? 0)) throw tooShortError(stored.name, options.offset);
  return {
    ...storedMembers(stored),
    chunks: stored.chunksFrom(options.offset),
    start: options.offset,
    lineEnd: lineEndOf(found.subarray(markLength(found))),
    warnings: new Warnings(),
  };
}

/** Reads from the start, as anything but plain UTF-8 must be. */
async function readWhole(stored: StoredInput, options: InputOptions): Promise<InputBytes> {
  const warnings = new Warnings();
  const decoded = await decode(stored, options, warnings);
  const { head, chunks } = await peek(decoded.chunks, showsLineEnd);
  (options.markup === true ? refuseBinary : refuseMarkup)(head, stored.name);
  const start = Math.max(decoded.mark, options.offset);
  return {
    ...storedMembers(stored),
    chunks: start === decoded.mark ? chunks : skip(chunks, start - decoded.mark, stored.name),
    start,
    lineEnd: lineEndOf(head),
    warnings,
  };
}

export function showsLineEnd(head: Buffer): boolean {
  return head.length >= limits.headBytes || head.includes(lineFeed);
}

/**
 * Detects the line end. CR counts only if there is no LF, so that a stray CR in a cell is
 * preserved.
 */
export function lineEndOf(head: Buffer): LineEnd {
  const looked = head.subarray(0, limits.headBytes);
  return looked.includes(carriageReturn) && !looked.includes(lineFeed) ? "cr" : "lf";
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function storedMembers(
  stored: StoredInput,
): Pick<InputBytes, "name" | "bytesTotal" | "bytesRead" | "checksum" | "close"> {
  return {
    name: stored.name,
    bytesTotal: stored.size,
    bytesRead: () => stored.read.checksum.bytes,
    checksum: () => stored.read.checksum.state(),
    close: () => stored.close(),
  };
}

export async function openSource(input: AnyInput, options: SourceOptions): Promise<OpenedSource> {
  // Before the first row, the header still has to be read.
  const startAt = options.startAt?.row === 0 ? null : options.startAt;
  const bytes = await openInput(input, {
    gzip: options.gzip,
    encoding: options.encoding,
    json: options.json,
    sheet: options.sheet,
    offset: startAt?.offset ?? 0,
    before: options.startAt?.input,
  });
  const { warnings } = bytes;
  const pauses = pausesOf(bytes, options);
  try {
    const isCells = "path" in input && input.copyOf?.shape === "cells";
    const format = isCells ? { read: readCells } : formats[options.format];
    const found = await format.read(
      { bytes, before: startAt, settled: options.startAt, warnings, pauses },
      { ...options, isTable: isTableCopy(input) },
    );
    const { columns, reading } = found;
    return {
      columns,
      reading,
      rows: inBatches(holdMarked(bytes.name, found, options, warnings), bytes),
      bytesTotal: bytes.bytesTotal,
      bytesRead: () => bytes.bytesRead(),
      checksum: () => bytes.checksum(),
      warnings: warnings.counts,
      close: () => bytes.close(),
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

/** A stream may stall; a file doesn't. */
export function pausesOf(
  bytes: InputBytes,
  { clock }: Pick<SourceOptions, "clock">,
): Pauses | null {
  return bytes.bytesTotal === null ? new Pauses(clock ?? systemClock) : null;
}

async function* inBatches(
  lists: AsyncIterable<readonly Row[]>,
  bytes: InputBytes,
): AsyncGenerator<readonly Row[]> {
  try {
    for await (const rows of lists) {
      for (let at = 0; at < rows.length; at += limits.batchRows) {
        yield rows.length <= limits.batchRows ? rows : rows.slice(at, at + limits.batchRows);
      }
    }
  } finally {
    await bytes.close();
  }
}

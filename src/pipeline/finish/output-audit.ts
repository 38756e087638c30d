import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { FindingStatus } from "../../core/finding.js";
import type { Verdict } from "../../core/verdict.js";
import type { FactsPlace } from "../../outputs/facts-place.js";
import type { SinkFormat } from "../../outputs/types.js";
import { BundleCounter } from "../../formats/shapes/bundle-counter.js";
import { CsvCounter } from "../../formats/csv/csv-counter.js";
import { JsonCounter } from "../../formats/ndjson/json-counter.js";

export interface AuditOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
  /** Number of input columns, which come first (CSV and TSV). */
  readonly inputColumns: number;
  /** Where the JSON of a line has its status and verdict; null where lines are no JSON. */
  readonly place: FactsPlace | null;
  /** False for an output of schema version 1. */
  readonly hasVerdicts: boolean;
}

/** What an output really holds of a run. */
export interface Audit {
  /** Bytes of the file; null for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** Null where the rows are not in the file one by one: a STIX bundle. */
  readonly rows: number | null;
  readonly statuses: Readonly<Record<FindingStatus, number>> | null;
  /** Null also for an output of schema version 1. */
  readonly verdicts: Readonly<Record<Verdict, number>> | null;
  /** Of a STIX bundle. */
  readonly indicators?: number;
  /** SHA-256 of the file's bytes, hex; null for a database. */
  readonly sha256: string | null;
}

/**
 * Reads an output file from its first byte and counts its rows by status and verdict, or its
 * indicators.
 *
 * @throws FatalError `output_corrupt` when it holds a row whose status or verdict is unknown, or is
 * no bundle
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = chunksOf(path, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  const counter = counterFor(options);
  if (options.gzip) {
    await pipeline(copies(file), createGunzip(), async (text: AsyncIterable<Buffer>) => {
      for await (const chunk of text) counter.push(chunk);
    });
  } else {
    for await (const chunk of file) counter.push(chunk);
  }
  counter.end();
  return { bytes, ...counter.found(), sha256: hash.digest("hex") };
}

/** Takes the bytes of an output, decompressed, and tells what is in it. */
interface OutputCounter {
  push(chunk: Buffer): void;
  end(): void;
  found(): Omit<Audit, "bytes" | "sha256">;
}

function counterFor(options: AuditOptions): OutputCounter {
  if (options.format === "stix") return new BundleCounter();
  const { place, hasVerdicts } = options;
  return place === null ? new CsvCounter(options) : new JsonCounter(place, hasVerdicts);
}

/**
 * The bytes of a file, all through two buffers, one of which is filled while the other is looked at:
 * whoever takes a chunk must be done with it before taking the next.
 */
async function* chunksOf(path: string, visit: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  const fill = (buffer: Buffer): Promise<Buffer> => {
    const filled = handle
      .read(buffer, 0, buffer.length)
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    // Whoever asks for it learns that it failed; until then, or when nobody does, that is no fault.
    filled.catch(() => undefined);
    return filled;
  };
  const [first, second] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let filling = fill(first);
  try {
    for (let next = second; ; next = next === first ? second : first) {
      const chunk = await filling;
      if (chunk.length === 0) return;
      filling = fill(next);
      visit(chunk);
      yield chunk;
    }
  } finally {
    await filling.catch(() => undefined);
    await handle.close();
  }
}

const chunkBytes = 256 * 1024;

/** A stream takes more than one chunk at a time. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

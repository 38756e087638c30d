import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError } from "../../core/errors.js";
import { findingStatuses, verdicts } from "../../core/finding.js";
import { formats } from "../../formats/registry.js";
import type { Counted, CountOptions, SinkFormat } from "../../formats/types.js";
import type { Manifest } from "../types.js";

export interface AuditOptions extends CountOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
}

/** What an output holds of a run. */
export interface Audit extends Counted {
  /** Size of the file; null for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a database. */
  readonly sha256: string | null;
}

/**
 * Reads a whole output file and counts its rows by status and verdict, or its indicators.
 *
 * @throws FatalError `output_corrupt` if a row has an unknown status or verdict, or a bundle is
 *   malformed
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  const read = async function* (): AsyncGenerator<Buffer> {
    const handle = await open(path, "r");
    const buffer = Buffer.allocUnsafeSlow(256 * 1024);
    try {
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length);
        if (bytesRead === 0) return;
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        bytes += bytesRead;
        // Copy: streams queue several chunks, and the next read overwrites this buffer.
        yield options.gzip ? Buffer.from(chunk) : chunk;
      }
    } finally {
      await handle.close();
    }
  };
  const format = formats[options.format];
  const counter = format.count(options);
  const splitter = format.split();
  const count = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      for (const record of splitter.push(chunk)) counter.add(record);
    }
  };
  if (options.gzip) await pipeline(read, createGunzip(), count);
  else await count(read());
  if (splitter.end() !== null) {
    throw new FatalError("output_corrupt", `the last line of the output is incomplete`);
  }
  return { bytes, ...counter.counted(), sha256: hash.digest("hex") };
}

/** Counts as a run recorded them. */
type RecordedCounts = Pick<Manifest, "statuses" | "verdicts"> & {
  readonly rows: number;
  readonly indicators?: number | undefined;
};

/** A count that differs between the record and the output. */
interface WrongCount {
  /** Label of the count, and the same as a phrase that follows a number. */
  readonly what: string;
  readonly phrase: string;
  readonly recorded: number | null | undefined;
  readonly found: number | null | undefined;
}

/** Compares recorded counts with an output. A bundle has no rows to count. */
export function wrongCounts(recorded: RecordedCounts, found: Audit): readonly WrongCount[] {
  const wrong: WrongCount[] = [];
  const check = (what: string, phrase: string, recorded?: number | null, there?: number | null) => {
    if (recorded !== there) wrong.push({ what, phrase, recorded, found: there });
  };
  check("indicators", "indicators written", recorded.indicators, found.indicators);
  if (found.statuses !== null) check("rows", "rows written", recorded.rows, found.rows);
  for (const status of found.statuses === null ? [] : findingStatuses) {
    const rows = `rows ${status}`;
    check(rows, rows, recorded.statuses[status], found.statuses?.[status]);
  }
  for (const verdict of found.verdicts === null ? [] : verdicts) {
    const phrase = `rows with the verdict ${verdict}`;
    check(`verdict ${verdict}`, phrase, recorded.verdicts[verdict], found.verdicts?.[verdict]);
  }
  return wrong;
}

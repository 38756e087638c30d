import { readFileSync } from "node:fs";

/** Lengths of the headers of a log and of a frame (https://www.sqlite.org/fileformat2.html#walformat). */
const header = { log: 32, frame: 24 };

/** First bytes of a log; the last bit says that its checksums are big-endian. */
const magic = 0x377f0682;

/**
 * Says where SQLite's write-ahead log is damaged; null if it is sound or missing. SQLite takes the first
 * frame with a wrong checksum for the end of the log, as if a kill had cut off its write. If a commit of
 * the same log follows, the frame was written and has changed since.
 */
export function logDamage(path: string): string | null {
  const log = contentOf(path);
  if (log === null || log.length <= header.log) return null;
  const damagedAt = (at: number): string => `${path} is damaged at byte ${at}`;
  const sumOf = checksums(log);
  let sum = sumOf(0, header.log - 8, { first: 0, second: 0 });
  if ((log.readUInt32BE(0) & ~1) >>> 0 !== magic || !isAt(log, header.log - 8, sum)) {
    return damagedAt(0);
  }
  const frame = header.frame + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  const isOfLog = (at: number): boolean => log.subarray(at + 8, at + 16).equals(salts);
  for (let at = header.log; at + frame <= log.length; at += frame) {
    sum = sumOf(at + header.frame, at + frame, sumOf(at, at + 8, sum));
    if (isOfLog(at) && isAt(log, at + 16, sum)) continue;
    for (let next = at + frame; next + frame <= log.length; next += frame) {
      const isCommit = log.readUInt32BE(next + 4) !== 0;
      if (isCommit && isOfLog(next)) return damagedAt(at);
    }
    return null;
  }
  return null;
}

interface Checksum {
  readonly first: number;
  readonly second: number;
}

/** Continues a checksum over a range of a log. */
function checksums(log: Buffer): (from: number, to: number, sum: Checksum) => Checksum {
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  const read = (at: number): number => (isBigEndian ? log.readUInt32BE(at) : log.readUInt32LE(at));
  return (from, to, sum) => {
    let { first, second } = sum;
    for (let at = from; at < to; at += 8) {
      first = (first + read(at) + second) >>> 0;
      second = (second + read(at + 4) + first) >>> 0;
    }
    return { first, second };
  };
}

function isAt(log: Buffer, at: number, { first, second }: Checksum): boolean {
  return log.readUInt32BE(at) === first && log.readUInt32BE(at + 4) === second;
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

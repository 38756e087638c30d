// @ts-check
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";

/** IPv4 addresses reserved for benchmarks (RFC 2544 section C.2.2): 198.18.0.0/15. */
const benchmarkAddresses = 2 ** 17;

/**
 * The item of a row, the same in every run. All items differ and are shuffled as in a real dump:
 * first IPv4 addresses, then IPv6 addresses of the documentation range (RFC 3849).
 *
 * @param {number} n from 0
 */
export function itemAt(n) {
  if (n < benchmarkAddresses) {
    const shuffled = (n * 40_503 + 7) & (benchmarkAddresses - 1);
    return `198.${18 + (shuffled >> 16)}.${(shuffled >> 8) & 255}.${shuffled & 255}`;
  }
  const shuffled = (Math.imul(n, 0x9e3779b1) ^ 0x5bd1e995) >>> 0;
  return `2001:db8:${(0x1000 + (shuffled >>> 20)).toString(16)}::${(0x1000 + ((shuffled >>> 8) & 0xfff)).toString(16)}:${(0x100 + (shuffled & 255)).toString(16)}`;
}

/**
 * Writes an input with this many rows: an identifier, the item, and columns that pass through.
 *
 * @param {string} path
 * @param {number} rows
 * @param {(n: number) => string} itemOf the item of a row, counted from 0
 */
export async function writeInput(path, rows, itemOf = itemAt) {
  await pipeline(Readable.from(lines(rows, itemOf)), createWriteStream(path));
}

/**
 * @param {number} rows
 * @param {(n: number) => string} itemOf
 */
function* lines(rows, itemOf) {
  let text = "id,ip,seen,note\n";
  for (let n = 0; n < rows; n++) {
    text += `${n + 1},${itemOf(n)},2026-01-${String(1 + (n % 28)).padStart(2, "0")}T02:00:00Z,"port scan, ${n % 97} packets"\n`;
    if (text.length < 65_536) continue;
    yield text;
    text = "";
  }
  yield text;
}

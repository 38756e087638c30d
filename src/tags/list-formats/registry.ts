import { writeCsv, writeNdjson, writeText, piecesOf, families } from "./address-lines.js";
import { writeIpset, writeNft } from "./firewalls.js";
import type { TagFormat, TagFormatWriter, ListMetadata } from "./types.js";
import { type AddressList, widths, addressText, addressTexts } from "../address/address-list.js";
import type { TypedColumn } from "../../formats/typed-column.js";
import { loadDriver } from "../../core/load-driver.js";
import { RowGroupEncoder, type ParquetDriver } from "../../formats/row-group-encoder.js";

/** The writer of every format. To add one, write a file and add it here and to `tagFormats`. */
export const tagFormatWriters = {
  txt: writeText,
  csv: writeCsv,
  ndjson: writeNdjson,
  cidr: writeCidr,
  nft: writeNft,
  ipset: writeIpset,
  parquet: writeParquet,
} satisfies Record<TagFormat, TagFormatWriter>;

/**
 * The fewest CIDR blocks (RFC 4632) that cover exactly the addresses of the list, one per line.
 *
 * Splits each run of consecutive addresses, from its lower end, into the largest aligned blocks
 * that fit. This is minimal, since no block can span two runs.
 */
export function* writeCidr({ v4, v6 }: AddressList): Iterable<Uint8Array> {
  yield* piecesOf(blocks(v4, widths.v4));
  yield* piecesOf(blocks(v6, widths.v6));
}

function* blocks(words: Uint32Array, width: number): Generator<string, void, undefined> {
  for (let at = 0, runEnd = 0; at < words.length / width;) {
    if (at === runEnd) runEnd = endOfRun(words, at, width);
    const bits = blockBits(words[(at + 1) * width - 1]!, runEnd - at);
    yield `${addressText(words, at, width)}/${width * 32 - bits}\n`;
    at += 2 ** bits;
  }
}

/** Size of the first block of a run, as a power of two: aligned, and no longer than the run. */
function blockBits(lowWord: number, length: number): number {
  const aligned = lowWord === 0 ? 32 : 31 - Math.clz32(lowWord & -lowWord);
  return Math.min(aligned, 31 - Math.clz32(length));
}

function endOfRun(words: Uint32Array, start: number, width: number): number {
  let end = start + 1;
  while (end < words.length / width && follows(words, end, width)) end++;
  return end;
}

/** True if the address at `index` is one above its predecessor. */
function follows(words: Uint32Array, index: number, width: number): boolean {
  let carry = 1;
  for (let word = width - 1; word >= 0; word--) {
    const next = words[(index - 1) * width + word]! + carry;
    carry = next > 0xffffffff ? 1 : 0;
    if (next >>> 0 !== words[index * width + word]) return false;
  }
  return carry === 0;
}

/** Rows held as text at a time. */
const groupRows = 50_000;

/** The same columns as CSV. */
const columns: readonly TypedColumn[] = [
  { name: "ip", type: "text", nullable: false },
  { name: "family", type: "count", nullable: false },
  { name: "tag", type: "text", nullable: false },
  { name: "snapshot", type: "text", nullable: false },
  { name: "last_update", type: "text", nullable: false },
  { name: "exported_at", type: "timestamp", nullable: false },
];

/** Parquet with one row per address, in row groups so that memory does not grow with the list. */
async function* writeParquet(
  list: AddressList,
  metadata: ListMetadata,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new RowGroupEncoder(await loadParquetWriter(), { columns, metadata: [] });
  for (const [family, part] of families(list)) {
    for (const ips of groups(part)) yield encoder.encode(cells(ips, BigInt(family), metadata));
  }
  yield encoder.footer();
}

/** @throws UsageError `driver_missing`, `driver_unusable` */
export function loadParquetWriter(): Promise<ParquetDriver> {
  return loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
}

/** Splits the addresses, as text, into row groups. */
function* groups(list: AddressList): Generator<string[], void, undefined> {
  let held: string[] = [];
  for (const address of addressTexts(list)) {
    if (held.push(address) < groupRows) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

function cells(ips: string[], family: bigint, metadata: ListMetadata): (string | bigint)[][] {
  const { tag, snapshot, lastUpdate, exportedAt } = metadata;
  const microseconds = BigInt(Date.parse(exportedAt)) * 1000n;
  const same = [family, tag, snapshot, lastUpdate, microseconds];
  return [ips, ...same.map((value) => Array.from(ips, () => value))];
}

import { loadDriver } from "../core/load-driver.js";
import { recordWriter, withoutFormula } from "../formats/csv/csv-writer.js";
import { RowGroupEncoder, type ParquetDriver } from "../formats/row-group-encoder.js";
import type { TypedColumn } from "../formats/typed-column.js";
import { type AddressList, addressTexts } from "./address-list.js";
import { cidrLines, ipsetLines, nftLines } from "./firewalls.js";
import type { TagFormat } from "./options.js";
import type { ListMetadata } from "./types.js";

/** The writer of every format. To add one, write it and add it here and to `tagFormats`. */
export const tagFormatWriters: Readonly<Record<TagFormat, TagFormatWriter>> = {
  txt: inPieces(textLines),
  csv: inPieces(csvRows),
  ndjson: inPieces(ndjsonRows),
  cidr: inPieces(cidrLines),
  nft: inPieces(nftLines),
  ipset: inPieces(ipsetLines),
  parquet: writeParquet,
};

/**
 * Yields the bytes of a file in pieces, so that memory does not grow with the list. A piece is
 * valid until the next one is requested.
 */
type TagFormatWriter = (
  list: AddressList,
  metadata: ListMetadata,
) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** One address per line. */
function* textLines(list: AddressList): Generator<string> {
  for (const [, texts] of addressTexts(list)) for (const ip of texts) yield `${ip}\n`;
}

function inPieces(lines: (list: AddressList, metadata: ListMetadata) => Iterable<string>) {
  return (list: AddressList, metadata: ListMetadata) => piecesOf(lines(list, metadata));
}

/** Characters per piece. */
const pieceSize = 64 * 1024;

function* piecesOf(texts: Iterable<string>): Generator<Uint8Array> {
  let held = "";
  for (const text of texts) {
    held += text;
    if (held.length < pieceSize) continue;
    yield Buffer.from(held);
    held = "";
  }
  if (held !== "") yield Buffer.from(held);
}

/** CSV (RFC 4180, but with LF line endings), one row per address; `family` is 4 or 6. */
function* csvRows(list: AddressList, metadata: ListMetadata): Generator<string> {
  yield "ip,family,tag,snapshot,last_update,exported_at\n";
  const { tag, snapshot, lastUpdate, exportedAt, formulaGuard } = metadata;
  const shown = formulaGuard ? withoutFormula : String;
  const rest = recordWriter(",")([tag, snapshot, lastUpdate, exportedAt].map(shown));
  for (const [family, texts] of addressTexts(list)) {
    for (const ip of texts) yield `${ip},${family},${rest}`;
  }
}

/** One JSON object per address, with the members of the CSV columns; `family` is 4 or 6. */
function* ndjsonRows(list: AddressList, metadata: ListMetadata): Generator<string> {
  const { tag, snapshot, lastUpdate: last_update, exportedAt: exported_at } = metadata;
  for (const [family, texts] of addressTexts(list)) {
    const rest = JSON.stringify({ family, tag, snapshot, last_update, exported_at }).slice(1);
    for (const ip of texts) yield `{"ip":"${ip}",${rest}\n`;
  }
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
  { tag, snapshot, lastUpdate, exportedAt }: ListMetadata,
): AsyncGenerator<Uint8Array> {
  const encoder = new RowGroupEncoder(await loadParquetWriter(), { columns, metadata: [] });
  const microseconds = BigInt(Date.parse(exportedAt)) * 1000n;
  for (const [family, texts] of addressTexts(list)) {
    const same = [BigInt(family), tag, snapshot, lastUpdate, microseconds];
    for (const ips of groups(texts)) {
      yield encoder.encode([ips, ...same.map((value) => ips.map(() => value))]);
    }
  }
  yield encoder.footer();
}

/** @throws UsageError `driver_missing`, `driver_unusable` */
export function loadParquetWriter(): Promise<ParquetDriver> {
  return loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
}

function* groups(texts: Iterable<string>): Generator<string[]> {
  let held: string[] = [];
  for (const text of texts) {
    if (held.push(text) < groupRows) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

import { type AddressList, addressTexts } from "../address-list.js";
import { cidrLines, ipsetLines, nftLines } from "./firewalls.js";
import { csvRows, ndjsonRows, writeParquet } from "./records.js";
import type { ListMetadata, TagFormat, TagFormatWriter } from "./types.js";

/** The writer of every format. To add one, write it and add it here and to `tagFormats`. */
export const tagFormatWriters = {
  txt: writeText,
  csv: inPieces(csvRows),
  ndjson: inPieces(ndjsonRows),
  cidr: inPieces(cidrLines),
  nft: inPieces(nftLines),
  ipset: inPieces(ipsetLines),
  parquet: writeParquet,
} satisfies Record<TagFormat, TagFormatWriter>;

/** One address per line. */
export function writeText(list: AddressList): Iterable<Uint8Array> {
  return piecesOf(textLines(list));
}

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

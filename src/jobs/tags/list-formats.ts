import { recordWriter, withoutFormula } from "../../io/formats/csv/csv-writer.js";
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
};

/**
 * Yields the bytes of a file in pieces, so that memory does not grow with the list. A piece is
 * valid until the next one is requested.
 */
type TagFormatWriter = (list: AddressList, metadata: ListMetadata) => Iterable<Uint8Array>;

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
function* csvRows(list: AddressList, { tag }: ListMetadata): Generator<string> {
  yield "ip,family,tag\n";
  const rest = recordWriter(",")([withoutFormula(tag)]);
  for (const [family, texts] of addressTexts(list)) {
    for (const ip of texts) yield `${ip},${family},${rest}`;
  }
}

/** One JSON object per address, with the members of the CSV columns; `family` is 4 or 6. */
function* ndjsonRows(list: AddressList, { tag }: ListMetadata): Generator<string> {
  for (const [family, texts] of addressTexts(list)) {
    const rest = JSON.stringify({ family, tag }).slice(1);
    for (const ip of texts) yield `{"ip":"${ip}",${rest}\n`;
  }
}

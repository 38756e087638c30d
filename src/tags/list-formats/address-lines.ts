import { recordWriter, withoutFormula } from "../../formats/csv/csv-writer.js";
import { type AddressList, noAddresses, addressTexts } from "../address/address-list.js";
import type { ListMetadata } from "./types.js";

/** Characters per piece. */
const pieceSize = 64 * 1024;

/** Encodes texts as pieces of bytes. */
export function* piecesOf(texts: Iterable<string>): Generator<Uint8Array, void, undefined> {
  let held = "";
  for (const text of texts) {
    held += text;
    if (held.length < pieceSize) continue;
    yield Buffer.from(held);
    held = "";
  }
  if (held !== "") yield Buffer.from(held);
}

/** Each address with a prefix and a suffix, IPv4 before IPv6. */
export function* addressLines(
  list: AddressList,
  before: string,
  behind: string,
): Generator<string, void, undefined> {
  for (const address of addressTexts(list)) yield before + address + behind;
}

/** Splits a list by family. */
export function families({ v4, v6 }: AddressList): [family: 4 | 6, list: AddressList][] {
  return [
    [4, { ...noAddresses, v4 }],
    [6, { ...noAddresses, v6 }],
  ];
}

/** One address per line. */
export function writeText(list: AddressList): Iterable<Uint8Array> {
  return piecesOf(addressLines(list, "", "\n"));
}

/** CSV (RFC 4180, but with LF line endings), one row per address; `family` is 4 or 6. */
export function* writeCsv(list: AddressList, metadata: ListMetadata): Iterable<Uint8Array> {
  yield Buffer.from("ip,family,tag,snapshot,last_update,exported_at\n");
  const { tag, snapshot, lastUpdate, exportedAt, formulaGuard } = metadata;
  const shown = formulaGuard ? withoutFormula : String;
  const rest = recordWriter(",")([tag, snapshot, lastUpdate, exportedAt].map(shown));
  for (const [family, part] of families(list)) {
    yield* piecesOf(addressLines(part, "", `,${family},${rest}`));
  }
}

/** One JSON object per address, with the members of the CSV columns; `family` is 4 or 6. */
export function* writeNdjson(list: AddressList, metadata: ListMetadata): Iterable<Uint8Array> {
  const { tag, snapshot, lastUpdate: last_update, exportedAt: exported_at } = metadata;
  for (const [family, part] of families(list)) {
    const rest = JSON.stringify({ family, tag, snapshot, last_update, exported_at }).slice(1);
    yield* piecesOf(addressLines(part, '{"ip":"', `",${rest}\n`));
  }
}

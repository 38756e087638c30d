import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { v6Text } from "../../core/item/ip.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import { isReserved, type Withheld } from "../../client/lookup/withheld.js";
import {
  type AddressList,
  difference,
  noAddresses,
  selectV4,
  sizeOf,
  v4Text,
  addressTexts,
} from "./address-list.js";
import { exportFault, TagExportError } from "./faults.js";
import { setNames, cidrLines, ipsetLines, nftLines } from "./firewalls.js";
import { type ExportedTag, storedListName } from "./folder/export-index.js";
import type { TagFormat } from "./options.js";
import type { TagList, TagReading } from "./read-tag.js";
import type { ListMetadata } from "./types.js";
import { csvPieces } from "../../io/formats/csv/csv-writer.js";

/**
 * Checks a list, writes its files and describes them.
 *
 * @throws TagExportError `count_mismatch`, `list_leapt`; FatalError
 */
export async function writeTag(
  { name, options, folder, state, before }: TagReading,
  read: TagList,
  stem: string,
): Promise<ExportedTag> {
  const { about, snapshot, lastUpdate, pinnedAt: exportedAt } = read;
  const whole = checkedList(name, read);
  const { list, leftOut } = leaveOut(whole, options.withheld);
  const old = before && (await folder.listOf(before));
  if (before && !old) {
    options.onWarning?.(
      `cannot read the earlier list of tag ${name}: added and removed addresses are counted as for a first export`,
    );
  }
  if (before) refuseLeap(name, old ? sizeOf(old) : before.total, sizeOf(list), options.maxChange);
  if (sizeOf(list) === 0 && sizeOf(whole) > 0) options.onWarning?.(emptyText(name, leftOut));
  const { formats = ["txt"] } = options;
  const sets = setNames(name, stem);
  const metadata = { tag: name, sets };
  const { txt } = tagFormatWriters;
  const write = (file: string, pieces: Pieces) => writeNew(join(state.nextFolder, file), pieces);
  const files = await writeFormats(join(state.nextFolder, stem), list, metadata, formats);
  const changes = {
    added: difference(list, old ?? noAddresses),
    removed: difference(old ?? noAddresses, list),
  };
  for (const format of ["added", "removed"] as const) {
    const file = `${stem}.${format}.txt`;
    files.push({ format, file, ...(await write(file, txt(changes[format], metadata))) });
  }
  const { sha256 } = await write(storedListName(stem), txt(list, metadata));
  const [added, removed] = [sizeOf(changes.added), sizeOf(changes.removed)];
  return {
    name,
    status: old && added === 0 && removed === 0 ? "unchanged" : "exported",
    error: null,
    description: about.description ?? null,
    intent: about.intent ?? null,
    category: about.category ?? null,
    references: about.references ?? [],
    snapshot,
    exported_at: exportedAt,
    lastUpdate,
    total: sizeOf(list),
    left_out: leftOut,
    ipv4: list.v4.length,
    ipv6: list.v6.length,
    sha256,
    previous: before && old && { snapshot: before.snapshot, exported_at: before.exported_at },
    added,
    removed,
    unchanged: sizeOf(list) - added,
    stem,
    sets,
    files,
  };
}

/**
 * Writes a list in several formats.
 *
 * @param base path of the files, without their endings
 */
export async function writeFormats(
  base: string,
  list: AddressList,
  metadata: ListMetadata,
  formats: readonly TagFormat[],
): Promise<ExportedTag["files"]> {
  const files: ExportedTag["files"] = [];
  for (const format of formats) {
    const pieces = tagFormatWriters[format](list, metadata);
    const written = await writeNew(`${base}.${format}`, pieces);
    files.push({ format, file: `${basename(base)}.${format}`, ...written });
  }
  return files;
}

/** The distinct addresses of all pages. Their number must equal the reported total. */
function checkedList(name: string, { addresses, entries, total }: TagList): AddressList {
  const list = addresses.list();
  if (sizeOf(list) === total) return list;
  const repeats = entries - sizeOf(list);
  throw new TagExportError(
    "count_mismatch",
    `the list of tag ${name} has ${formatCount(sizeOf(list))} distinct addresses, but its reported total is ${formatCount(total)}` +
      (repeats > 0 ? `; ${formatCount(repeats)} entries are duplicates` : ""),
  );
}

/**
 * Removes from a list what a firewall must not get: addresses that exclusion lists name, each
 * counted for the first one, and addresses in reserved ranges, unless those are kept.
 */
function leaveOut(
  { v4, v6 }: AddressList,
  withheld: Withheld,
): { readonly list: AddressList; readonly leftOut: ExportedTag["left_out"] } {
  const counts = withheld.lists.map(() => 0);
  let reserved = 0;
  const isKept = (value: string): boolean => {
    const item = { kind: "ip", value } as const;
    const by = withheld.listOf(item);
    if (by !== null) counts[withheld.lists.indexOf(by)]!++;
    else if (withheld.bogons === "local" && isReserved(item)) reserved++;
    else return true;
    return false;
  };
  const list = {
    v4: selectV4(v4, (address) => isKept(v4Text(address))),
    v6: v6.filter((address) => isKept(v6Text(address))),
  };
  const excluded = withheld.lists.map(({ path, sha256 }, at) => ({
    path,
    sha256,
    addresses: counts[at]!,
  }));
  return { list, leftOut: { reserved: withheld.bogons === "local" ? reserved : null, excluded } };
}

function emptyText(tag: string, { reserved, excluded }: ExportedTag["left_out"]): string {
  const listed = excluded.reduce((sum, { addresses }) => sum + addresses, 0);
  const why = `${formatCount(reserved ?? 0)} in reserved ranges, ${formatCount(listed)} on exclusion lists`;
  return `the list of tag ${tag} is empty because all of its addresses are left out: ${why}`;
}

/** Lists with fewer addresses may change as much as they like, except that they may not become empty. */
const leapFrom = 100;

/** @throws TagExportError `list_leapt` */
function refuseLeap(tag: string, before: number, now: number, maxChange = 0.5): void {
  const change = Math.abs(now - before) / before;
  const isEmptied = before > 0 && now === 0;
  if (maxChange >= 1 || (!isEmptied && (before < leapFrom || change <= maxChange))) return;
  throw new TagExportError(
    "list_leapt",
    `the list of tag ${tag} had ${counted(before, "address")} and now has ${formatCount(now)}, a change of more than ${maxChange * 100}%`,
    { hint: "look at the tag; --max-change 100% accepts the new list" },
  );
}

type Pieces = Iterable<Uint8Array>;

/** Writes a new file piece by piece. Durable once resolved. */
async function writeNew(path: string, pieces: Pieces): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  function* hashed(): Generator<Uint8Array> {
    for (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await writeFile(path, hashed(), { flag: "wx", flush: true }).catch((error: unknown) => {
    throw exportFault(path, error);
  });
  return { bytes, sha256: hash.digest("hex") };
}

/** The writer of every format. To add one, write it and add it here and to `tagFormats`. */
export const tagFormatWriters: Readonly<Record<TagFormat, TagFormatWriter>> = {
  txt: inPieces(function* (list) {
    for (const [, texts] of addressTexts(list)) for (const ip of texts) yield `${ip}\n`;
  }),
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
  const rest = [...csvPieces(",", [[tag]])].join("");
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

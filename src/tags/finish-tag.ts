import { counted, formatCount } from "../core/text/quantity.js";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { hashBytes } from "../core/files/file-hash.js";
import {
  type AddressList,
  countMapped,
  difference,
  noAddresses,
  sizeOf,
  sortAddresses,
} from "./address/address-list.js";
import type { ExportedFile, ExportedTag } from "./folder/export-index.js";
import { listsFolder, storedListName, storeList, writeFile } from "./folder/write-file.js";
import { tagFormatWriters } from "./list-formats/registry.js";
import { writeText } from "./list-formats/address-lines.js";
import type { SetNames } from "./list-formats/types.js";
import { leaveOut } from "./left-out.js";
import type { TagReading } from "./read-tag.js";
import type { PageLog } from "./page-log.js";
import { TagExportError } from "./faults.js";
import type { ExportTagsOptions } from "./types.js";

export interface FinishTagOptions {
  readonly name: string;
  readonly reading: TagReading;
  /** The tag in the current export, with its addresses if they can be read. */
  readonly before: { readonly tag: ExportedTag; readonly list: AddressList } | null;
  readonly stem: string;
  /** Folder of the generation under construction. */
  readonly into: string;
  readonly options: ExportTagsOptions;
}

/**
 * Checks a list, writes its files and describes them.
 *
 * @throws TagExportError `count_mismatch`, `list_leapt`; FatalError
 */
export async function finishTag(finishing: FinishTagOptions): Promise<ExportedTag> {
  const { name, reading, before, stem, into, options } = finishing;
  const { about, log, snapshot, lastUpdate, pinnedAt } = reading;
  const { list, leftOut } = await listOf(finishing, log);
  if (before !== null) refuseLeap(name, sizeOf(before.list), sizeOf(list), options.maxChange);
  const metadata = {
    tag: name,
    snapshot,
    lastUpdate,
    exportedAt: pinnedAt,
    sets: setNames(name, stem),
    formulaGuard: options.formulaGuard ?? true,
  };
  const { formats = ["txt"] } = options;
  if (formats.some((format) => format === "nft" || format === "ipset"))
    warnOfMapped(list, finishing);
  const files: ExportedFile[] = [];
  for (const format of formats) {
    const pieces = tagFormatWriters[format](list, metadata);
    files.push(await writeOne(format, `${stem}.${format}`, pieces, into));
  }
  const sha256 =
    files.find(({ format }) => format === "txt")?.sha256 ??
    (await hashBytes(writeText(list))).sha256;
  const old = before?.list ?? noAddresses;
  const added = difference(list, old);
  const removed = difference(old, list);
  files.push(
    await writeOne("added", `${stem}.added.txt`, writeText(added), into),
    await writeOne("removed", `${stem}.removed.txt`, writeText(removed), into),
  );
  await storeList(join(into, listsFolder, storedListName(stem)), list);
  const isSame = before !== null && sizeOf(added) === 0 && sizeOf(removed) === 0;
  return {
    name,
    status: isSame ? "unchanged" : "exported",
    error: null,
    description: about.description ?? null,
    intent: about.intent ?? null,
    category: about.category ?? null,
    references: about.references ?? [],
    snapshot,
    exported_at: pinnedAt,
    lastUpdate,
    total: sizeOf(list),
    left_out: { reserved: leftOut.reserved, excluded: [...leftOut.excluded] },
    ipv4: list.v4.length,
    ipv6: list.v6.length / 4,
    sha256,
    previous: before && { snapshot: before.tag.snapshot, exported_at: before.tag.exported_at },
    added: sizeOf(added),
    removed: sizeOf(removed),
    unchanged: sizeOf(list) - sizeOf(added),
    stem,
    sets: metadata.sets,
    files,
  };
}

/** The list as read, without what must not be in it; the earlier one if nothing was read. */
async function listOf(
  { name, before, options }: FinishTagOptions,
  log: PageLog | null,
): Promise<ReturnType<typeof leaveOut>> {
  if (log !== null) return leaveOut(await checkedList(name, log), options.withheld);
  if (before !== null) return { list: before.list, leftOut: before.tag.left_out };
  throw new TagExportError("count_mismatch", `the earlier list of tag ${name} is gone`);
}

/** Lists with fewer addresses may change as much as they like. */
const leapFrom = 100;

/** @throws TagExportError `list_leapt` */
function refuseLeap(tag: string, before: number, now: number, maxChange = 0.5): void {
  const change = Math.abs(now - before) / before;
  if (before < leapFrom || change <= maxChange || maxChange >= 1) return;
  throw new TagExportError(
    "list_leapt",
    `the list of tag ${tag} had ${counted(before, "address")} and now has ${formatCount(now)}, a change of more than ${maxChange * 100}%`,
    { hint: "look at the tag; --max-change 100% accepts the new list" },
  );
}

/** The distinct addresses of all pages. Their number must equal the reported total. */
async function checkedList(name: string, log: PageLog): Promise<AddressList> {
  const { v4, v6 } = await log.read();
  const list = sortAddresses(v4, v6);
  const { total } = log.pin;
  if (sizeOf(list) === total) return list;
  const repeats = log.entries - sizeOf(list);
  throw new TagExportError(
    "count_mismatch",
    `the list of tag ${name} has ${sizeOf(list)} distinct addresses, but its reported total is ${total}` +
      (repeats > 0 ? `; ${repeats} entries are duplicates` : ""),
  );
}

async function writeOne(
  format: ExportedFile["format"],
  file: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  into: string,
): Promise<ExportedFile> {
  return { format, file, ...(await writeFile(join(into, file), pieces)) };
}

function warnOfMapped(list: AddressList, { name, options }: FinishTagOptions): void {
  const mapped = countMapped(list);
  if (mapped === 0) return;
  // RFC 4291 section 2.5.5.2: a representation inside programs, not on the wire.
  options.onWarning?.(
    `tag ${name}: ${counted(mapped, "IPv4-mapped IPv6 address")} (::ffff:…) exported unchanged; a firewall sees no such traffic`,
  );
}

/** ipset names have at most 31 characters (ipset(8)); `_v4_n` is the longest suffix added. */
const maxSetName = 26;

/**
 * Names of a tag's sets in a firewall. Uses the stem of its files if nftables and ipset accept it:
 * letters, digits, `.`, `_` and `-`, starting with a letter, and short enough.
 */
export function setNames(tag: string, stem: string): SetNames {
  const digest = createHash("sha256").update(tag).digest("hex").slice(0, 8);
  const plain = stem.replaceAll(/%[0-9A-F]{2}/g, "_").replace(/^[^A-Za-z]/, "t$&");
  const name =
    plain === stem && stem.length <= maxSetName
      ? stem
      : `${plain.slice(0, maxSetName - digest.length - 1)}-${digest}`;
  return { ipv4: `${name}_v4`, ipv6: `${name}_v6` };
}

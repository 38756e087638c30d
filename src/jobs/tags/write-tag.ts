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
} from "./address-list.js";
import { type ListMetadata, setNames, tagFormatWriters, textLines } from "./formats.js";
import { type ExportedTag, listName } from "./export-index.js";
import type { TagFormat } from "./options.js";
import type { TagList, TagReading } from "./read-tag.js";
import { exportFault, TagExportError } from "./types.js";

/**
 * Checks a list, writes its files and describes them.
 *
 * @throws TagExportError `count_mismatch`, `list_leapt`; FatalError
 */
export async function writeTag(
  { name, options, folder, before }: TagReading,
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
  const base = join(folder.next, stem);
  const sets = setNames(name, stem);
  const files = await writeFormats(base, list, { tag: name, sets }, options.formats);
  // The next export compares with the text, whatever the formats are.
  const text =
    files.find(({ format }) => format === "txt") ??
    (await writeNew(join(folder.next, listName(stem)), textLines(list)));
  const added = difference(list, old ?? noAddresses);
  const removed = difference(old ?? noAddresses, list);
  for (const [format, changed] of Object.entries({ added, removed })) {
    const file = await writeNew(`${base}.${format}.txt`, textLines(changed));
    files.push({ format: format as "added" | "removed", ...file });
  }
  const isUnchanged = old !== null && sizeOf(added) + sizeOf(removed) === 0;
  return {
    name,
    status: isUnchanged ? "unchanged" : "exported",
    error: null,
    description: about.description ?? null,
    intent: about.intent ?? null,
    category: about.category ?? null,
    snapshot,
    exported_at: exportedAt,
    lastUpdate,
    total: sizeOf(list),
    left_out: leftOut,
    sha256: text.sha256,
    added: sizeOf(added),
    removed: sizeOf(removed),
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
  formats: readonly TagFormat[] = ["txt"],
): Promise<ExportedTag["files"]> {
  const files: ExportedTag["files"] = [];
  for (const format of formats) {
    const texts = tagFormatWriters[format](list, metadata);
    files.push({ format, ...(await writeNew(`${base}.${format}`, texts)) });
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
function leaveOut({ v4, v6 }: AddressList, withheld: Withheld) {
  const counts = withheld.lists.map(() => 0);
  let reserved = 0;
  const isKept = (value: string): boolean => {
    const item = { kind: "ip", value } as const;
    const by = withheld.listOf(item);
    if (by !== null) counts[withheld.lists.indexOf(by)]! += 1;
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
  const why = `${formatCount(reserved ?? 0)} in reserved ranges (--bogons ask keeps them), ${formatCount(listed)} on exclusion lists`;
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

/** Characters per piece of a file. */
const pieceSize = 64 * 1024;

/** Writes a new file piece by piece. Durable once resolved. */
async function writeNew(path: string, texts: Iterable<string>) {
  const hash = createHash("sha256");
  let bytes = 0;
  function* pieces(): Generator<Buffer> {
    let held = "";
    const take = (): Buffer => {
      const piece = Buffer.from(held);
      held = "";
      hash.update(piece);
      bytes += piece.length;
      return piece;
    };
    for (const text of texts) {
      held += text;
      if (held.length >= pieceSize) yield take();
    }
    yield take();
  }
  await writeFile(path, pieces(), { flag: "wx", flush: true }).catch((error: unknown) => {
    throw exportFault(path, error);
  });
  return { file: basename(path), bytes, sha256: hash.digest("hex") };
}

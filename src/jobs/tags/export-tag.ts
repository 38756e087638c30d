import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TagIps } from "../../client/api/calls.js";
import type { IntelClient } from "../../client/api/intel-client.js";
import { RejectedError, SnapshotChangedError } from "../../client/api/status-fault.js";
import { isReserved, type Withheld } from "../../client/lookup/withheld.js";
import { toWellFormed } from "../../core/bytes.js";
import { v6Text } from "../../core/item/ip.js";
import { quoted } from "../../core/wording/printable.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import {
  type AddressList,
  difference,
  readEntries,
  selectV4,
  sortedList,
  addressCount,
  v4Text,
} from "./address-list.js";
import type { ExportedTag, ExportFolder } from "./export-folder.js";
import { setNames, writeFormats } from "./formats.js";
import { type ExportTagsOptions, TagExportError } from "./options.js";

interface TagExport {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly before: ExportedTag | null;
}

/** Maximum number of restarts for a tag whose list changes while it is read. */
const maxRestarts = 3;

/**
 * Reads a tag's list and writes its files to the generation under construction.
 *
 * @throws FatalError or the signal's reason; ServiceError and TagExportError concern this tag alone:
 *   its list keeps changing, is invalid, or differs too much from the earlier one
 */
export async function exportTag(tag: TagExport): Promise<ExportedTag> {
  const { name, signal, options, folder } = tag;
  const { client, clock, onProgress } = options;
  if (name === "") {
    throw new TagExportError("invalid_tag_name", "a tag's name must not be empty");
  }
  const stem = stemOf(name);
  if (!(await folder.canUse(stem))) {
    const message = `${join(folder.path, stem)}.* exists and does not belong to an export`;
    const hint = "move it away, or export to another folder";
    throw new TagExportError("file_name_taken", message, { hint });
  }
  for (let restarts = 0; ; restarts++) {
    const about = await client.tag(name, { signal });
    let pinnedAt: string | null = null;
    const onPage = ({ total }: TagIps, entries: number): void => {
      pinnedAt ??= new Date(clock.now()).toISOString();
      onProgress?.({ tag: name, entries, total });
    };
    let read: TagList;
    try {
      read = await readList(client, name, signal, onPage);
    } catch (error) {
      const isRefused = error instanceof RejectedError && pinnedAt !== null;
      if (!isRefused && !(error instanceof SnapshotChangedError)) throw error;
      if (restarts < maxRestarts) continue;
      const why = isRefused
        ? `the service refused its own snapshot (${error.message})`
        : error.message;
      const message = `the list of tag ${name} changed during each of ${restarts + 1} attempts to read it; the last time ${why}`;
      const hint = "export the tag again when its list changes less often";
      throw new TagExportError("snapshot_drift", message, { hint, cause: error });
    }
    signal.throwIfAborted();
    const { description = null, intent = null, category = null } = about;
    const facts = { description, intent, category, exported_at: pinnedAt! };
    return { name, ...facts, ...(await writeTag(tag, read, stem)) };
  }
}

/** A tag's list, checked. */
interface TagList extends Pick<TagIps, "snapshot" | "lastUpdate" | "total"> {
  readonly addresses: AddressList;
}

/**
 * Reads all pages of a tag's list, all from the snapshot of the first one. Its distinct addresses must
 * be as many as its total.
 *
 * @param onPage called with each page, and the number of entries so far
 * @throws TagExportError `invalid_entry`, `count_mismatch`; as `iterateTagIps`
 */
export async function readList(
  client: Pick<IntelClient, "iterateTagIps">,
  name: string,
  signal: AbortSignal,
  onPage: (page: TagIps, entries: number) => void | Promise<void>,
): Promise<TagList> {
  const pages: AddressList[] = [];
  let entries = 0;
  let pin: TagIps | null = null;
  for await (const page of client.iterateTagIps(name, { signal })) {
    const read = readEntries(page.entries);
    if (typeof read === "number") {
      const entry = quoted(page.entries[read] ?? "", 60);
      const message = `entry ${entries + read + 1} of the list of tag ${name} is ${entry}, which is not an IP address`;
      throw new TagExportError("invalid_entry", message);
    }
    pages.push(read);
    entries += page.entries.length;
    pin ??= page;
    await onPage(page, entries);
  }
  const { snapshot, lastUpdate, total } = pin!;
  const addresses = sortedList(pages);
  const distinct = addressCount(addresses);
  if (distinct === total) return { snapshot, lastUpdate, total, addresses };
  const repeats = entries - distinct;
  const more = repeats > 0 ? `; it has ${counted(repeats, "duplicate entry")}` : "";
  const message = `the list of tag ${name} has ${counted(distinct, "distinct address")}, but its reported total is ${formatCount(total)}${more}`;
  throw new TagExportError("count_mismatch", message);
}

/** Writes the files of a list and describes them. */
async function writeTag(
  { name, options, folder, before }: TagExport,
  { addresses, snapshot, lastUpdate }: TagList,
  stem: string,
) {
  const { list, leftOut } = leaveOut(addresses, options.withheld);
  const old = before && (await folder.listOf(before));
  if (before && !old) {
    options.onWarning?.(
      `cannot read the earlier list of tag ${name}: added and removed addresses are counted as for a first export`,
    );
  }
  if (before)
    refuseLeap(name, old ? addressCount(old) : before.total, addressCount(list), options.maxChange);
  if (addressCount(list) === 0 && addressCount(addresses) > 0)
    options.onWarning?.(emptyText(name, leftOut));
  const base = join(folder.next, stem);
  const sets = setNames(name, stem);
  const metadata = { tag: name, sets };
  const files = await writeFormats(base, list, metadata, options.formats);
  // The next export compares with the text, whatever the formats are.
  const text =
    files.find(({ format }) => format === "txt") ?? (await writeFormats(base, list, metadata))[0]!;
  const earlier = old ?? sortedList([]);
  const [added, removed] = [difference(list, earlier), difference(earlier, list)];
  for (const [format, changed] of Object.entries({ added, removed })) {
    const [file] = await writeFormats(`${base}.${format}`, changed, metadata);
    files.push({ ...file!, format: format as "added" | "removed" });
  }
  const isUnchanged = old !== null && addressCount(added) + addressCount(removed) === 0;
  return {
    status: isUnchanged ? ("unchanged" as const) : ("exported" as const),
    error: null,
    snapshot,
    lastUpdate,
    total: addressCount(list),
    left_out: leftOut,
    sha256: text.sha256,
    added: addressCount(added),
    removed: addressCount(removed),
    stem,
    sets,
    files,
  };
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

function refuseLeap(tag: string, before: number, now: number, maxChange = 0.5): void {
  const change = Math.abs(now - before) / before;
  const isEmptied = before > 0 && now === 0;
  if (maxChange >= 1 || (!isEmptied && (before < leapFrom || change <= maxChange))) return;
  const message = `the list of tag ${tag} had ${counted(before, "address")} and now has ${formatCount(now)}, a change of more than ${maxChange * 100}%`;
  const hint = "look at the tag; --max-change 100% accepts the new list";
  throw new TagExportError("list_leapt", message, { hint });
}

/** Maximum length of a stem: with any suffix it fits in the 255 bytes of a file name. */
const maxStem = 180;

/**
 * The stem of a tag's file names: `<group>--<name>`, with everything outside `[A-Za-z0-9._-]`
 * percent-encoded, so that no tag becomes a path. If it is too long, or another tag could have the same
 * files (`a:b--c` and `a--b:c`, `a:b.added` and `a:b`), a part of the tag's SHA-256 is appended.
 */
export function stemOf(tag: string): string {
  const colon = tag.indexOf(":");
  const parts = colon < 0 ? [tag] : [tag.slice(0, colon), tag.slice(colon + 1)];
  // A leading dot would hide the file; a leading dash would make it an option on a command line.
  const stem = parts
    .map(encoded)
    .join("--")
    .replace(/^[.-]/, (first) => (first === "." ? "%2E" : "%2D"));
  const isSplitOnce = stem.split("--").length === parts.length && !stem.includes("---");
  const isSuffixed = /\.(?:added|removed|[0-9a-f]{12})$/.test(stem);
  if (isSplitOnce && !isSuffixed && stem.length <= maxStem) return stem;
  const digest = createHash("sha256").update(tag).digest("hex").slice(0, 12);
  // Never splits an encoded byte.
  const short = stem.slice(0, maxStem - digest.length - 1).replace(/%[0-9A-F]?$/, "");
  return `${short}.${digest}`;
}

function encoded(text: string): string {
  return encodeURIComponent(toWellFormed(text)).replaceAll(
    /[!~*'()]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

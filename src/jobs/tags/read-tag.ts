import { RejectedError, SnapshotChangedError } from "../../client/api/status-fault.js";
import type { Tag, TagIps } from "../../client/api/calls.js";
import { type AddressList, AddressPages, readEntries } from "./address-list.js";
import type { ExportFolder } from "./export-folder.js";
import type { ExportedTag } from "./export-index.js";
import { quoted } from "../../core/wording/printable.js";
import { type ExportTagsOptions, TagExportError } from "./types.js";

/** Maximum number of restarts for a tag whose list changes while it is read. */
const maxRestarts = 3;

export interface TagReading {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly options: ExportTagsOptions;
  readonly folder: ExportFolder;
  readonly before: ExportedTag | null;
}

/**
 * Reads a tag and all pages of its list, all from the snapshot of the first page.
 *
 * @throws TagExportError if the list keeps changing or is invalid; ServiceError, FatalError, the
 *   signal's reason
 */
export async function readTag(
  reading: TagReading,
  onPage: (list: TagList) => void,
): Promise<TagList> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await readPages(reading, onPage);
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      if (restarts < maxRestarts) continue;
      throw new TagExportError(
        "snapshot_drift",
        `the list of tag ${reading.name} changed during each of ${restarts + 1} attempts to read it; the last time ${error.message}`,
        { hint: "export the tag again when its list changes less often", cause: error },
      );
    }
  }
}

/** One reading of a tag's list: what its first page fixed, and the pages so far. */
export interface TagList extends Pick<TagIps, "snapshot" | "lastUpdate" | "total"> {
  readonly about: Tag;
  /** When the first page arrived, RFC 3339 UTC. */
  readonly pinnedAt: string;
  readonly addresses: AddressPages;
  entries: number;
}

/** The list no longer matches its first page; the message says how. */
class Drift extends Error {}

async function readPages(
  { name, signal, options: { client, clock } }: TagReading,
  onPage: (list: TagList) => void,
): Promise<TagList> {
  const about = await client.tag(name, { signal });
  assertTag(name, about.name);
  let list: TagList | null = null;
  try {
    for await (const page of client.iterateTagIps(name, { signal })) {
      const { snapshot, lastUpdate, total, entries } = page;
      const pinnedAt = new Date(clock.now()).toISOString();
      const addresses = new AddressPages();
      list ??= { about, snapshot, lastUpdate, total, pinnedAt, addresses, entries: 0 };
      list.addresses.add(checkedEntries(name, page, list.entries));
      list.entries += entries.length;
      onPage(list);
    }
  } catch (error) {
    if (error instanceof SnapshotChangedError) throw new Drift(error.message, { cause: error });
    if (list === null || !(error instanceof RejectedError)) throw error;
    throw new Drift(`the service refused its own snapshot (${error.message})`, { cause: error });
  }
  const { entries, total } = list!;
  if (entries >= total) return list!;
  throw new TagExportError(
    "count_mismatch",
    `the list of tag ${name} ends after ${entries} of ${total} entries`,
  );
}

/** @throws TagExportError `other_tag` if the service answered for another tag */
export function assertTag(name: string, answered: string): void {
  if (answered === name) return;
  throw new TagExportError(
    "other_tag",
    `the service answered for tag ${JSON.stringify(answered)} when asked for ${JSON.stringify(name)}`,
  );
}

/**
 * The addresses of a page.
 *
 * @throws TagExportError `other_tag`, `invalid_entry`
 */
export function checkedEntries(name: string, page: TagIps, offset: number): AddressList {
  assertTag(name, page.tag);
  const addresses = readEntries(page.entries);
  if (typeof addresses === "object") return addresses;
  const entry = quoted(page.entries[addresses] ?? "", 60);
  throw new TagExportError(
    "invalid_entry",
    `entry ${offset + addresses + 1} of the list of tag ${name} is ${entry}, which is not an IP address`,
  );
}

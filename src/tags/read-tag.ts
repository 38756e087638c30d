import type { TagIps } from "../api/schema/tag.js";
import { RejectedError, SnapshotChangedError } from "../api/status-fault.js";
import { type AddressList, readEntries } from "./address-list.js";
import type { ExportState } from "./export-state.js";
import type { ExportedTag } from "./folder/export-index.js";
import type { PageLog } from "./page-log.js";
import { TagExportError } from "./faults.js";
import type { ExportTagsOptions } from "./types.js";

/** Maximum number of restarts for a tag whose list changes while it is read. */
const maxRestarts = 3;

export interface TagReading {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly options: ExportTagsOptions;
  readonly state: ExportState;
  /** The tag in the current export; null if it is not there. */
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
  onPage: (log: PageLog) => void,
): Promise<PageLog> {
  const { name, state, before } = reading;
  let resumed = await state.resume(name, before);
  for (let restarts = 0; ;) {
    try {
      return await readPages(reading, resumed, onPage);
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      await state.forget(name);
      if (resumed !== null) {
        // A snapshot that expired during an interruption does not count as a change.
        resumed = null;
        continue;
      }
      if (restarts === maxRestarts) {
        throw new TagExportError(
          "snapshot_drift",
          `the list of tag ${name} changed during each of ${restarts + 1} attempts to read it; the last time ${error.message}`,
          { hint: "export the tag again when its list changes less often", cause: error },
        );
      }
      restarts++;
    }
  }
}

/** The list no longer matches its first page; the message says how. */
class Drift extends Error {}

/** Reads the pages of a list, or those that an interrupted export lacks. */
async function readPages(
  { name, signal, state, options: { client, clock } }: TagReading,
  resumed: PageLog | null,
  onPage: (log: PageLog) => void,
): Promise<PageLog> {
  let log = resumed;
  const about = log?.pin.about ?? (await client.tag(name, { signal }));
  assertTag(name, about.name);
  if (log !== null) onPage(log);
  try {
    for await (const page of client.iterateTagIps(name, { signal, after: log ?? undefined })) {
      const { snapshot, lastUpdate, total, entries } = page;
      checkedEntries(name, page, log?.entries ?? 0);
      if (log === null) {
        const pinnedAt = new Date(clock.now()).toISOString();
        log = await state.begin({ tag: name, about, snapshot, lastUpdate, total, pinnedAt });
      }
      await log.append(entries);
      onPage(log);
    }
  } catch (error) {
    if (error instanceof SnapshotChangedError) throw new Drift(error.message, { cause: error });
    if (log === null || !(error instanceof RejectedError)) throw error;
    throw new Drift(`the service refused its own snapshot (${error.message})`, { cause: error });
  }
  const { entries, pin } = log!;
  if (entries >= pin.total) return log!;
  throw new TagExportError(
    "count_mismatch",
    `the list of tag ${name} ends after ${entries} of ${pin.total} entries`,
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
  const entry = JSON.stringify(page.entries[addresses]?.slice(0, maxShownEntry));
  throw new TagExportError(
    "invalid_entry",
    `entry ${offset + addresses + 1} of the list of tag ${name} is ${entry}, which is not an IP address`,
  );
}

/** Maximum length of an entry in a message. Addresses are shorter. */
const maxShownEntry = 60;

import type { TagIps } from "../api/schema/tag.js";
import { tagIpsLimit } from "../api/schema/vocabulary.js";
import { RejectedError } from "../api/status-fault.js";
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
  let log = await state.resume(name, before);
  for (let restarts = 0; ;) {
    try {
      log ??= await begin(reading);
      onPage(log);
      await readRemaining(log, reading, onPage);
      return log;
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      const { resumed } = log!;
      await log!.remove();
      log = null;
      // A snapshot that expired during an interruption does not count as a change.
      if (resumed) continue;
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

/** Reads the tag and the first page, which pins the snapshot. */
async function begin({ name, signal, state, options }: TagReading): Promise<PageLog> {
  const { client, clock } = options;
  const about = await client.tag(name, { signal });
  assertTag(name, about.name);
  const first = await client.tagIps(name, { limit: tagIpsLimit.max, signal });
  checkedEntries(name, first, 0);
  const { snapshot, lastUpdate, total } = first;
  const pinnedAt = new Date(clock.now()).toISOString();
  const log = await state.begin({ tag: name, about, snapshot, lastUpdate, total, pinnedAt });
  await log.append(first.entries);
  return log;
}

async function readRemaining(
  log: PageLog,
  { name, signal, options: { client } }: TagReading,
  onPage: (log: PageLog) => void,
): Promise<void> {
  const { snapshot, total } = log.pin;
  while (log.entries < total) {
    const offset = log.entries;
    let page: TagIps;
    try {
      page = await client.tagIps(name, { offset, limit: tagIpsLimit.max, snapshot, signal });
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      throw new Drift(`the service refused its own snapshot (${error.message})`, { cause: error });
    }
    assertSameList(log, page);
    checkedEntries(name, page, offset);
    if (page.entries.length === 0) {
      throw new TagExportError(
        "count_mismatch",
        `the list of tag ${name} ends after ${offset} of ${total} entries`,
      );
    }
    if (log.repeats(page.entries)) {
      throw new TagExportError(
        "page_repeated",
        `the page at offset ${offset} of the list of tag ${name} repeats the one before it: the service ignores the offset or reports a wrong total (${total})`,
      );
    }
    await log.append(page.entries);
    onPage(log);
  }
}

function assertSameList({ pin }: PageLog, page: TagIps): void {
  for (const member of ["snapshot", "lastUpdate", "total"] as const) {
    if (page[member] === pin[member]) continue;
    const [before, now] = [pin[member], page[member]].map((value) => JSON.stringify(value));
    throw new Drift(`${member} changed from ${before} to ${now}`);
  }
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

import type { TagIps } from "../api/schema/tag.js";
import { tagIpsLimit } from "../api/schema/vocabulary.js";
import { RejectedError } from "../api/status-fault.js";
import type { Clock } from "../core/clock.js";
import { bytesOf, type ReadAddresses, readEntries } from "./address/address-list.js";
import type { ExportState } from "./export-state.js";
import type { PageLog, Pin } from "./page-log.js";
import { TagExportError } from "./faults.js";
import type { TagService } from "./types.js";

/** Maximum number of restarts for a tag whose list changes while it is read. */
const maxRestarts = 3;

export interface ReadTagOptions {
  readonly name: string;
  readonly client: TagService;
  readonly state: ExportState;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Pages left by an interrupted export, or null. */
  readonly begun: PageLog | null;
  /** True if the list with this first page is already exported, so that the rest can be skipped. */
  readonly isKnown: (first: TagIps, addresses: ReadAddresses) => Promise<boolean>;
  readonly onPage: (log: PageLog) => void;
}

/** A tag's list as read. `log` holds all its pages; null if the list is already exported. */
export type TagReading = Omit<Pin, "version" | "source" | "tag"> & { readonly log: PageLog | null };

/**
 * Reads a tag and all pages of its list, all from the snapshot of the first page.
 *
 * @throws TagExportError if the list keeps changing or is invalid; ServiceError, FatalError, the
 *   signal's reason
 */
export async function readTag(options: ReadTagOptions): Promise<TagReading> {
  let log = options.begun;
  for (let restarts = 0; ;) {
    try {
      if (log === null) {
        const start = await begin(options);
        if (start.log === null) return start;
        log = start.log;
      }
      options.onPage(log);
      await readRemaining(log, options);
      return { ...log.pin, log };
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
          `the list of tag ${options.name} changed during each of ${restarts + 1} attempts to read it; the last time ${error.message}`,
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
async function begin({
  name,
  client,
  state,
  clock,
  signal,
  isKnown,
}: ReadTagOptions): Promise<TagReading> {
  const about = await client.tag(name, { signal });
  assertTag(name, about.name);
  const first = await client.tagIps(name, { limit: tagIpsLimit.max, signal });
  const addresses = checkedEntries(name, first, 0);
  const { snapshot, lastUpdate, total } = first;
  const pinnedAt = new Date(clock.now()).toISOString();
  const facts = { about, snapshot, lastUpdate, total, pinnedAt };
  const hasMore = first.entries.length < total;
  if (hasMore && (await isKnown(first, addresses))) return { ...facts, log: null };
  const log = await state.begin({ tag: name, ...facts });
  await log.append(addresses);
  return { ...facts, log };
}

async function readRemaining(
  log: PageLog,
  { name, client, signal, onPage }: ReadTagOptions,
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
    const addresses = checkedEntries(name, page, offset);
    if (page.entries.length === 0) {
      throw new TagExportError(
        "count_mismatch",
        `the list of tag ${name} ends after ${offset} of ${total} entries`,
      );
    }
    if (log.lastPage !== null && isSamePage(log.lastPage, addresses)) {
      throw new TagExportError(
        "page_repeated",
        `the page at offset ${offset} of the list of tag ${name} repeats the one before it: the service ignores the offset or reports a wrong total (${total})`,
      );
    }
    await log.append(addresses);
    onPage(log);
  }
}

/** A list has each address once, so two of its pages are never equal. */
function isSamePage(a: ReadAddresses, b: ReadAddresses): boolean {
  const isSame = (x: Uint32Array, y: Uint32Array) => Buffer.compare(bytesOf(x), bytesOf(y)) === 0;
  return isSame(a.v4, b.v4) && isSame(a.v6, b.v6);
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
export function checkedEntries(name: string, page: TagIps, offset: number): ReadAddresses {
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

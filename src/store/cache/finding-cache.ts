import type { Clock } from "../../core/clock.js";
import type { Finding } from "../../core/finding.js";
import type { FindingStore } from "../store.js";
import { decodeEntry, encodeEntry, isIntact, readEntryHead } from "./cache-entry.js";
import { cacheFault } from "./cache-fault.js";
import type { CacheFile, NewEntry } from "./cache-file.js";
import { hashBytes, writeKeyHash } from "./cache-key.js";
import { markClosed } from "./closed-mark.js";
import { CommitQueue } from "./commit-queue.js";
import { hasSpace, openCacheFile, storeFolder } from "./open-cache-file.js";
import { answerKind, isFresh } from "./shelf-life.js";

export interface CacheOptions {
  /** Folder of the cache; made, readable by its owner alone, when it is absent. */
  readonly folder: string;
  /** How long a full answer is used, in milliseconds; other kinds in proportion. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  /** Told why the cache, or a part of it, is not used. */
  readonly onWarning: (message: string) => void;
  /** Whether findings come with the text of their results. Default false. */
  readonly asReceived?: boolean | undefined;
  /** True: nothing is made, kept or begun anew; what is not there is an empty cache. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Bytes of the cache's file that may be resident at once. Default 24 MiB. */
  readonly mappedLimit?: number | undefined;
}

/**
 * Opens a cache of findings that outlives the run and serves several processes at once. It answers
 * only with what is fresh, and keeps no failures.
 *
 * A cache is a convenience: where it cannot be opened, read or written the reason goes to
 * `onWarning`, and what comes back behaves as an empty one that forgets. Nothing throws or rejects.
 */
export async function openCache(options: CacheOptions): Promise<FindingStore> {
  try {
    return new FindingCache(await openCacheFile(options.folder, options), options);
  } catch (error) {
    warnUnused(options, "open", error);
    return new FindingCache(null, options);
  }
}

/** Entries that are written without waiting for more, and how long they wait otherwise. */
const gathering = { size: 1024, delayMs: 500 };

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  readonly #queue: CommitQueue<NewEntry>;
  /** Null when the cache cannot be used, or not any more. */
  #file: CacheFile | null;
  #takesMore: boolean;
  #damaged = 0;
  /** Hash of the key that is being looked for. */
  readonly #hash = Buffer.alloc(hashBytes);

  constructor(file: CacheFile | null, options: CacheOptions) {
    this.#file = file;
    this.#options = options;
    this.#takesMore = options.readOnly !== true;
    this.#queue = new CommitQueue({ ...gathering, write: (entries) => this.#write(entries) });
  }

  get(key: string): Finding | null | Promise<Finding | null> {
    const file = this.#file;
    if (file === null) return null;
    if (!file.ready || file.crowded) return this.#remapped().then(() => this.get(key));
    try {
      return this.#read(file, key);
    } catch (error) {
      this.#giveUp("read", error);
      return null;
    }
  }

  put(key: string, finding: Finding): Promise<void> {
    const kind = answerKind(finding);
    if (kind === null || this.#file === null || !this.#takesMore) return Promise.resolve();
    const keptAt = this.#options.clock.now();
    const bytes = encodeEntry(key, finding, { kind, keptAt }, (into) => writeKeyHash(key, into));
    const hash = Buffer.allocUnsafe(hashBytes);
    writeKeyHash(key, hash);
    return this.#queue.add({ hash, bytes });
  }

  async sync(): Promise<void> {
    await this.#queue.flush();
    await this.#queue.between(async () => this.#file?.flush());
  }

  async close(): Promise<void> {
    await this.#queue.flush();
    await this.#queue.between(async () => {
      const file = this.#file;
      if (file === null) return;
      try {
        await file.close();
        markClosed(storeFolder(this.#options.folder));
      } catch (error) {
        this.#giveUp("write", error);
      }
      this.#file = null;
    });
  }

  #read(file: CacheFile, key: string): Finding | null {
    writeKeyHash(key, this.#hash);
    const bytes = file.find(this.#hash);
    if (bytes === undefined) return null;
    if (!isIntact(bytes)) {
      if (this.#damaged++ === 0) {
        const { folder, onWarning } = this.#options;
        onWarning(`entries of the cache ${folder} are damaged; what they held is asked for again`);
      }
      return null;
    }
    const { kind, keptAt } = readEntryHead(bytes);
    const now = this.#options.clock.now();
    if (!isFresh(kind, keptAt, now, this.#options.ttlMs)) return null;
    const { asReceived } = this.#options;
    // From the future: from now on it ages, so that no clock makes it last longer than it may.
    const isEarly = keptAt > now;
    const { key: found, value: finding } = decodeEntry(bytes, {
      asReceived: asReceived || isEarly,
    });
    if (found !== key) return null;
    if (isEarly) void this.put(key, finding);
    return finding;
  }

  async #write(entries: readonly NewEntry[]): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    const { folder, onWarning } = this.#options;
    try {
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
      if (!hasSpace(folder, 2 * bytes + entries.length * copiedByEntry)) {
        this.#takesMore = false;
        onWarning(`the disk of the cache ${folder} is nearly full; it takes no further answers`);
        return;
      }
      await file.write(entries);
      if (file.crowded) await file.remap();
    } catch (error) {
      this.#giveUp("write", error);
    }
  }

  #remapped(): Promise<void> {
    return this.#queue.between(async () => {
      try {
        if (this.#file?.crowded === true) await this.#file.remap();
      } catch (error) {
        this.#giveUp("read", error);
      }
    });
  }

  #giveUp(doing: "read" | "write", error: unknown): void {
    if (this.#file === null) return;
    this.#file = null;
    warnUnused(this.#options, doing, error);
  }
}

/** Bytes of index pages that LMDB copies for an entry, at worst. */
const copiedByEntry = 8192;

function warnUnused(
  { folder, onWarning }: CacheOptions,
  doing: "open" | "read" | "write",
  error: unknown,
): void {
  onWarning(`${cacheFault(folder, doing, error)}; the run goes on without it`);
}

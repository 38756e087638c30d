import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import {
  type CacheEnvironment,
  causeOf,
  closeAll,
  openCacheEnvironment,
} from "./cache-environment.js";
import { throughGate } from "./lmdb-gate.js";
import { MappedMemory } from "./mapped-memory.js";

/** An entry that is to be written. */
export interface NewEntry {
  /** Hash of its key. */
  readonly hash: Buffer;
  readonly bytes: Buffer;
}

/** Where an entry is, and the hash of its key. */
export interface PlacedHash {
  readonly place: Buffer;
  readonly hash: Buffer;
}

/** An entry with the place that it has in the file. */
export interface PlacedEntry {
  readonly place: Buffer;
  readonly bytes: Buffer;
}

/**
 * The entries of a cache: bytes under a hash.
 *
 * Entries lie in the order in which they were written, so that a run over what an earlier run
 * wrote reads the file from front to back; an index leads from a hash to the place. Every process
 * that writes has a range of places of its own; one writes at a time, behind a gate, and whoever
 * reads sees what was committed. An entry to which nothing leads (a process was killed between the
 * two) is found by nobody and removed by `prune`.
 */
export class CacheFile {
  readonly #folder: string;
  readonly #mapped: MappedMemory;
  #environment: CacheEnvironment | null;
  #broken = false;
  /** Begins every place of this session. */
  readonly #session: Buffer;
  #number = 0;
  /** Places of entries that newer ones have replaced. */
  #obsolete: Buffer[] = [];
  /** The place that is being looked at. */
  readonly #place = Buffer.alloc(placeBytes);

  /** @param mappedLimit bytes of the file that may be resident at once */
  constructor(folder: string, environment: CacheEnvironment, mappedLimit: number) {
    this.#folder = folder;
    this.#environment = environment;
    this.#mapped = new MappedMemory(mappedLimit);
    this.#session = Buffer.alloc(sessionBytes);
    this.#session.writeUIntBE(Math.floor(Date.now() / 1000), 0, 4);
    randomBytes(4).copy(this.#session, 4);
  }

  /** False in the short moments of `remap`, when nothing can be read or written. */
  get ready(): boolean {
    return this.#environment !== null;
  }

  /** True when `remap` is due. */
  get crowded(): boolean {
    return this.#mapped.excess && !this.#broken;
  }

  /** The newest entry with a hash; its bytes stay what they are until the next reading. */
  find(hash: Buffer): Buffer | undefined {
    if (!this.#lookUp(hash)) return undefined;
    const bytes = this.#entryThere();
    if (bytes !== undefined) return bytes;
    // The two are seen as they were at moments of their own, between which another process may have
    // replaced the entry. A second look sees both as they are now.
    this.#lookAnew();
    return this.#lookUp(hash) ? this.#entryThere() : undefined;
  }

  /** What is read from now on is what is there now. */
  #lookAnew(): void {
    for (const root of this.#opened.roots) root.resetReadTxn();
  }

  /** Puts the place that the index leads to into `#place`; false when it leads nowhere. */
  #lookUp(hash: Buffer): boolean {
    this.#mapped.touch();
    const place = this.#opened.index.getBinaryFast(hash);
    if (place === undefined || place.length !== placeBytes) return false;
    for (let at = 0; at < placeBytes; at++) this.#place[at] = place[at]!;
    return true;
  }

  #entryThere(): Buffer | undefined {
    const bytes = this.#opened.entries.getBinaryFast(this.#place);
    // LMDB's buffer is longer than what it says is its length.
    return bytes?.subarray(0, bytes.length);
  }

  /** Writes entries, each in the place of the one with its hash. Resolves when all are committed. */
  write(added: readonly NewEntry[]): Promise<void> {
    return throughGate(this.#folder, () => this.#write(added));
  }

  async #write(added: readonly NewEntry[]): Promise<void> {
    const { index, entries } = this.#opened;
    this.#lookAnew();
    let transaction = this.#removeObsolete();
    const placed = added.map(({ hash, bytes }) => {
      this.#mapped.touch();
      const place = this.#nextPlace();
      transaction = entries.put(place, bytes);
      return { hash, place };
    });
    await this.#committed(transaction);

    // In the order of the index its pages are found one after the other.
    placed.sort((one, other) => Buffer.compare(one.hash, other.hash));
    for (const { hash, place } of placed) {
      const earlier = index.getBinary(hash);
      if (earlier?.length === placeBytes) this.#obsolete.push(earlier);
      transaction = index.put(hash, place);
    }
    await this.#committed(transaction);
  }

  /** Entries in the order of their places, up to `limit` of them from behind a place on. */
  read(behind: Buffer | null, limit: number): readonly PlacedEntry[] {
    const { entries } = this.#opened;
    const start = behind === null ? {} : { start: Buffer.concat([behind, Buffer.from([0])]) };
    const found = [...entries.getRange({ ...start, limit })];
    for (const _ of found) this.#mapped.touch();
    return found.map(({ key, value }) => ({ place: key, bytes: value }));
  }

  /** Whether the index leads to an entry. */
  leadsTo(hash: Buffer, place: Buffer): boolean {
    this.#mapped.touch();
    return this.#opened.index.getBinary(hash)?.equals(place) ?? false;
  }

  /** Removes entries, and what leads to them. Resolves when that is committed. */
  remove(placed: readonly PlacedHash[]): Promise<void> {
    return throughGate(this.#folder, () => this.#remove(placed));
  }

  async #remove(placed: readonly PlacedHash[]): Promise<void> {
    const { index, entries } = this.#opened;
    this.#lookAnew();
    let transaction: Promise<unknown> | null = null;
    for (const { place, hash } of placed) {
      if (this.leadsTo(hash, place)) transaction = index.remove(hash);
    }
    await this.#committed(transaction);
    for (const { place } of placed) transaction = entries.remove(place);
    await this.#committed(transaction);
  }

  /** Resolves when a loss of power can no longer lose what was written. */
  async flush(): Promise<void> {
    for (const root of this.#opened.roots) await root.flushed;
  }

  /** Closes and opens the file. Nothing may be written until it resolves. */
  async remap(): Promise<void> {
    await this.close();
    // LMDB lets go of a closed environment in timers of its own.
    await turn();
    this.#environment = await openCacheEnvironment(this.#folder);
    this.#mapped.reset();
  }

  async close(): Promise<void> {
    // After a failed transaction LMDB waits in vain for it when it closes.
    if (this.#broken || this.#environment === null) return;
    await throughGate(this.#folder, () => this.#close(), { unguarded: true });
  }

  async #close(): Promise<void> {
    await this.#committed(this.#removeObsolete());
    const { roots } = this.#opened;
    this.#environment = null;
    await closeAll(roots);
  }

  get #opened(): CacheEnvironment {
    if (this.#environment === null) throw new Error("it is closed");
    return this.#environment;
  }

  #removeObsolete(): Promise<unknown> | null {
    let transaction: Promise<unknown> | null = null;
    for (const place of this.#obsolete) transaction = this.#opened.entries.remove(place);
    this.#obsolete = [];
    return transaction;
  }

  async #committed(transaction: Promise<unknown> | null): Promise<void> {
    try {
      await transaction;
    } catch (error) {
      this.#broken = true;
      throw await causeOf(error);
    }
  }

  #nextPlace(): Buffer {
    const place = Buffer.alloc(placeBytes);
    this.#session.copy(place);
    place.writeUInt32BE(this.#number++, sessionBytes);
    return place;
  }
}

/** When the session began (seconds since 1970) and four random bytes. */
const sessionBytes = 8;

/** A session and a number within it. */
const placeBytes = sessionBytes + 4;

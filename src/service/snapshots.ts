import { createHash } from "node:crypto";
import { snapshotLength } from "../api/schema/vocabulary.js";
import type { Tag } from "../api/schema/tag.js";
import type { Clock } from "../core/clock.js";
import type { DatasetTag } from "./dataset/dataset.js";
import { hasMember } from "./dataset/ip-list.js";

/** One version of a tag's list, identified by its token. */
export interface TagListVersion {
  readonly list: readonly string[];
  /** When the data was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
  /** Exactly 24 characters, as in the interface. */
  readonly snapshot: string;
}

interface Superseded {
  readonly version: TagListVersion;
  /** Monotonic clock time in milliseconds. */
  readonly since: number;
}

/**
 * Maximum number of replaced versions per tag that stay readable, however fast its list changes.
 */
const maxKeptVersions = 16;

/**
 * The IP lists of all tags and their snapshots. Each change makes a new version. Replaced versions
 * stay readable by their tokens for a limited time.
 */
export class TagLists {
  readonly #tags: ReadonlyMap<string, DatasetTag>;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #current = new Map<string, TagListVersion>();
  readonly #isBorneBy: Map<string, (address: string) => boolean>;
  readonly #superseded = new Map<string, readonly Superseded[]>();
  #generation = 0;

  /** @param lifetimeMs how long a replaced version stays readable */
  constructor(tags: ReadonlyMap<string, DatasetTag>, clock: Clock, lifetimeMs: number) {
    this.#tags = tags;
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
    this.#isBorneBy = new Map([...tags].map(([name, { isBorneBy }]) => [name, isBorneBy]));
  }

  /** The tags that an address bears now. */
  tagsOf(address: string): readonly Tag[] {
    return [...this.#tags].flatMap(([name, { tag }]) =>
      this.#isBorneBy.get(name)?.(address) === true ? [tag] : [],
    );
  }

  /** The current version of a tag's list; null if there is no such tag. */
  current(tag: string): TagListVersion | null {
    const known = this.#current.get(tag);
    if (known) return known;
    const source = this.#tags.get(tag);
    return source ? this.#publish(tag, source.list, source.lastUpdate) : null;
  }

  /** The version with this token; null if it is another tag's, expired or unknown. */
  pinned(tag: string, snapshot: string): TagListVersion | null {
    const current = this.current(tag);
    if (current?.snapshot === snapshot) return current;
    const kept = this.#readable(tag).find((entry) => entry.version.snapshot === snapshot);
    return kept?.version ?? null;
  }

  replace(tag: string, list: readonly string[]): TagListVersion {
    const before = this.current(tag);
    const now = new Date(this.#clock.now()).toISOString();
    const version = this.#publish(tag, list, now);
    this.#isBorneBy.set(tag, hasMember(list));
    if (before && before.snapshot !== version.snapshot) {
      const entry = { version: before, since: this.#clock.monotonic() };
      this.#superseded.set(tag, [entry, ...this.#readable(tag)].slice(0, maxKeptVersions));
    }
    return version;
  }

  /** Expires all tokens of a tag's list issued so far. The list itself stays. */
  expire(tag: string): void {
    const current = this.current(tag);
    this.#superseded.delete(tag);
    this.#generation += 1;
    if (current) this.#publish(tag, current.list, current.lastUpdate);
  }

  #readable(tag: string): readonly Superseded[] {
    const oldest = this.#clock.monotonic() - this.#lifetimeMs;
    return (this.#superseded.get(tag) ?? []).filter((entry) => entry.since > oldest);
  }

  #publish(tag: string, list: readonly string[], lastUpdate: string): TagListVersion {
    const content = [tag, lastUpdate, this.#generation, ...list].join("\n");
    const snapshot = createHash("sha256").update(content).digest("hex").slice(0, snapshotLength);
    const version = { list, lastUpdate, snapshot };
    this.#current.set(tag, version);
    return version;
  }
}

import { createHash } from "node:crypto";
import { snapshotLength, type Tag } from "../client/api/calls.js";
import type { Clock } from "../core/clock.js";
import type { DatasetTag } from "./dataset.js";

/** One version of a tag's list, identified by its snapshot token. */
interface TagListVersion extends Pick<DatasetTag, "list" | "lastUpdate"> {
  /** Exactly 24 characters, as in the interface. */
  readonly snapshot: string;
}

/** How many versions of each list stay readable, including the current one. */
const keptVersions = 16;

/**
 * The IP lists of all tags and their snapshots. Each change makes a new version; replaced versions
 * stay readable by their tokens.
 */
export class TagLists {
  readonly #tags: Map<string, DatasetTag>;
  readonly #clock: Clock;
  /** Newest first. */
  readonly #versions = new Map<string, readonly TagListVersion[]>();

  constructor(tags: ReadonlyMap<string, DatasetTag>, clock: Clock) {
    this.#tags = new Map(tags);
    this.#clock = clock;
  }

  tagsOf(address: string): readonly Tag[] {
    return [...this.#tags.values()].flatMap(({ tag, hasAddress }) =>
      hasAddress(address) ? [tag] : [],
    );
  }

  /** The current version of a tag's list; null if there is no such tag. */
  current(tag: string): TagListVersion | null {
    const source = this.#tags.get(tag);
    if (!source) return null;
    return this.#versions.get(tag)?.[0] ?? this.#publish(tag, source);
  }

  /** The version with this token; null if it is another tag's, too old or unknown. */
  pinned(tag: string, snapshot: string): TagListVersion | null {
    this.current(tag);
    return this.#versions.get(tag)?.find((version) => version.snapshot === snapshot) ?? null;
  }

  replace(tag: string, list: readonly string[]): TagListVersion {
    const lastUpdate = new Date(this.#clock.now()).toISOString();
    const members = new Set(list);
    const hasAddress = (address: string): boolean => members.has(address);
    const source = { tag: this.#tags.get(tag)!.tag, list, hasAddress, lastUpdate };
    this.#tags.set(tag, source);
    return this.#publish(tag, source);
  }

  #publish(tag: string, { list, lastUpdate }: DatasetTag): TagListVersion {
    const content = [tag, lastUpdate, ...list].join("\n");
    const snapshot = createHash("sha256").update(content).digest("hex").slice(0, snapshotLength);
    const version = { list, lastUpdate, snapshot };
    const earlier = this.#versions.get(tag) ?? [];
    this.#versions.set(tag, [version, ...earlier].slice(0, keptVersions));
    return version;
  }
}

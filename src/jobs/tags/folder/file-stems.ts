import { createHash } from "node:crypto";
import { tagFormats } from "../options.js";
import type { ExportedTag } from "./export-index.js";

/** Maximum length of a stem: with any suffix it fits in the 255 bytes of a file name. */
const maxStem = 180;

/** Every file of a tag ends in one of these. */
export const fileEndings = [...tagFormats, "added.txt", "removed.txt"] as const;

/**
 * Assigns each tag the stem of its file names: `<group>--<name>`, with everything outside
 * `[A-Za-z0-9._-]` percent-encoded, so that no tag becomes a path.
 *
 * If another tag already has a file name (`a:b--c` and `a--b:c`, `a:b.added` and `a:b`, names that
 * differ only in case, which some file systems ignore), or if it is too long, part of the tag's
 * SHA-256 is appended. A tag keeps its stem as long as it is in the folder.
 */
export class FileStems {
  readonly #stems = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(tags: readonly Pick<ExportedTag, "name" | "stem">[]) {
    for (const { name, stem } of tags) this.#take(name, stem);
  }

  of(tag: string): string {
    const known = this.#stems.get(tag);
    if (known !== undefined) return known;
    const plain = stemOf(tag);
    const digest = createHash("sha256").update(tag).digest("hex");
    let stem = plain;
    for (let digits = 8; !this.#isFree(stem); digits += 8) {
      const short = truncateEncoded(plain, maxStem - digits - 1);
      stem = `${short}.${digest.slice(0, digits)}`;
    }
    this.#take(tag, stem);
    return stem;
  }

  #isFree(stem: string): boolean {
    return (
      stem.length <= maxStem &&
      fileEndings.every((ending) => !this.#taken.has(folded(stem, ending)))
    );
  }

  #take(tag: string, stem: string): void {
    this.#stems.set(tag, stem);
    for (const ending of fileEndings) this.#taken.add(folded(stem, ending));
  }
}

function stemOf(tag: string): string {
  const colon = tag.indexOf(":");
  const joined =
    colon < 0 ? encoded(tag) : `${encoded(tag.slice(0, colon))}--${encoded(tag.slice(colon + 1))}`;
  // A leading dot would hide the file; a leading dash would make it an option on a command line.
  return joined.replace(/^[.-]/, (first) => (first === "." ? "%2E" : "%2D"));
}

function encoded(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(
      /[^A-Za-z0-9._-]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );
}

/** Cuts a text to `length` characters without splitting an encoded byte. */
function truncateEncoded(text: string, length: number): string {
  return text.slice(0, length).replace(/%[0-9A-F]?$/, "");
}

function folded(stem: string, ending: string): string {
  return `${stem}.${ending}`.toLowerCase();
}

import { UsageError } from "../../core/errors.js";
import { manifestPlace, readManifest } from "../../io/output/manifest-file.js";
import { parseOutput } from "../../io/output/registry.js";
import { otherNames } from "./counters.js";
import type { Manifest } from "../../core/manifest.js";

/**
 * Tags on the rows of a run, most frequent first.
 *
 * A run counts a limited number of names; `uncounted` is the number of rows with a tag beyond them.
 */
export function seenTags({ tags }: Pick<Manifest, "tags">): SeenTags {
  return {
    names: Object.keys(tags).filter((name) => name !== otherNames),
    uncounted: tags[otherNames] ?? 0,
  };
}

export interface SeenTags {
  readonly names: readonly string[];
  readonly uncounted: number;
}

/**
 * Warns that some lists cannot be exported because the run did not keep the names of their tags.
 */
export function uncountedText({ names, uncounted }: SeenTags): string {
  return `${uncounted} rows carry tags beyond the ${names.length} names that a run keeps; the lists of those tags are not exported`;
}

/**
 * Tags on the rows of an earlier output, read from its manifest.
 *
 * @throws UsageError `manifest_missing`, `manifest_unreadable`
 */
export async function tagsSeenIn(output: string, stateDir?: string): Promise<SeenTags> {
  const seenIn = parseOutput(output, "read");
  const hint = "name an output of repute; its manifest lists the tags of its rows";
  const { tags } = await readManifest(seenIn, hint, stateDir);
  if (typeof tags === "object") return seenTags({ tags });
  const message = `${manifestPlace(seenIn, stateDir)} is not the manifest of a run`;
  throw new UsageError("manifest_unreadable", message);
}

import { UsageError } from "../../core/errors.js";
import { readManifest } from "../finish/manifest.js";
import { manifestPath, outputBase } from "../output/check-paths.js";
import { othersName } from "./tally.js";
import type { Manifest } from "../types.js";

/**
 * Tags that the rows of a run brought, the commonest first.
 *
 * A run counts a bounded number of names; `uncounted` is how many rows carry a tag beyond them.
 */
export function seenTags({ tags }: Pick<Manifest, "tags">): SeenTags {
  return {
    names: Object.keys(tags).filter((name) => name !== othersName),
    uncounted: tags[othersName] ?? 0,
  };
}

export interface SeenTags {
  readonly names: readonly string[];
  readonly uncounted: number;
}

/** Says that the lists of some tags cannot be exported because a run did not keep their names. */
export function uncountedText({ names, uncounted }: SeenTags): string {
  return `${uncounted} rows carry a tag beyond the first ${names.length} names, which is as many as a run keeps; the lists of those tags are not exported`;
}

/**
 * The same of an earlier output, from the manifest beside it.
 *
 * @throws UsageError `manifest_missing`, `manifest_unreadable`
 */
export async function tagsSeenIn(output: string): Promise<SeenTags> {
  const base = outputBase(output);
  const hint = "name an output of repute; its manifest says which tags its rows have";
  const { tags } = await readManifest(base, hint);
  if (typeof tags === "object") return seenTags({ tags });
  const message = `${manifestPath(base)} is no manifest of a run`;
  throw new UsageError("manifest_unreadable", message);
}

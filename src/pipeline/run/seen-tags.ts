import { UsageError } from "../../core/errors.js";
import { readJsonFile } from "../../core/files/json-file.js";
import { manifestPath } from "../output/paths.js";
import { outputBase } from "../output/paths.js";
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
  const path = manifestPath(outputBase(output));
  let manifest: Partial<Manifest> | null;
  try {
    manifest = (await readJsonFile(path)) as Partial<Manifest> | null;
  } catch (error) {
    throw new UsageError("manifest_unreadable", `cannot read ${path}`, { cause: error });
  }
  if (manifest === null) {
    throw new UsageError("manifest_missing", `there is no ${path}`, {
      hint: "name an output of repute; its manifest says which tags its rows have",
    });
  }
  if (typeof manifest.tags !== "object") {
    throw new UsageError("manifest_unreadable", `${path} is no manifest of a run`);
  }
  return seenTags({ tags: manifest.tags });
}

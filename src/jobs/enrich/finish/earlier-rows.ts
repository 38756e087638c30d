import { existsSync } from "node:fs";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import type { Publication } from "../../../io/output/publication.js";
import type { OutputTarget } from "../destination/output-target.js";
import { findManifest } from "../../../io/output/manifest-file.js";
import { previousOutputs, storedManifest } from "./previous-outputs.js";

type Target = Pick<OutputTarget, "base" | "file" | "name" | "upload" | "pattern">;

/**
 * Rows of the output before a run's: the one that it replaces, the last run in its table, or the newest
 * earlier one of the same `{date}` pattern. Null for none.
 *
 * @param staged rows that are staged for it, or null
 */
export async function earlierRows(
  target: Target,
  staged: Pick<Publication, "earlierRows"> | null,
): Promise<number | null> {
  const { upload, pattern, name } = target;
  const own =
    staged?.earlierRows ??
    rowsIn((await upload?.earlier()) ?? null) ??
    (await replacedRows(target));
  if (own !== null || pattern === undefined) return own;
  for (const output of await previousOutputs(pattern, name)) {
    const rows = rowsIn(await storedManifest(output));
    if (rows !== null) return rows;
  }
  return null;
}

/** Rows of the file that will be replaced, by its manifest. */
async function replacedRows({ base, file }: Target): Promise<number | null> {
  return base !== null && file !== null && existsSync(file)
    ? rowsIn(await findManifest(base).catch(() => null))
    : null;
}

/** Rows that a run read: with `--only`, its output has fewer. */
function rowsIn(manifest: FoundManifest | null): number | null {
  return manifest?.input?.rows ?? manifest?.output?.rows ?? null;
}

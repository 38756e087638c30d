import { existsSync } from "node:fs";
import { FatalError } from "../../core/errors.js";
import { counted } from "../../core/text/quantity.js";
import type { Publication } from "../../outputs/publication.js";
import { isTable, type OutputTarget } from "../destination/output-target.js";
import { findManifest } from "./manifest.js";

/**
 * Keeps an input without rows, which is mostly a failed export, from replacing an output that has
 * rows. Tables keep their rows anyway, except with `--mode replace`.
 *
 * @param staged rows that are staged for it, or null
 * @param rows number of rows that are about to be published
 * @throws FatalError `input_empty`
 */
export async function keepEarlier(
  target: Pick<OutputTarget, "base" | "file" | "name" | "upload">,
  staged: Pick<Publication, "earlierRows"> | null,
  rows: number,
): Promise<void> {
  if (rows > 0) return;
  const { name, upload } = target;
  const found = (await staged?.earlierRows?.()) ?? (await upload?.earlierRows());
  const earlier = found ?? (await rowsOf(target));
  if (earlier === 0) return;
  const kept = `${name} keeps the ${counted(earlier, "row")} of the run before`;
  const remedy = isTable(target) ? `empty ${name}` : `remove ${name}`;
  throw new FatalError("input_empty", `the input has no rows; ${kept}`, {
    hint: `check the export that makes the input; if there is nothing to check, ${remedy} first`,
  });
}

/** Rows of the file or data set that will be replaced, by its manifest. */
async function rowsOf({ base, file }: Pick<OutputTarget, "base" | "file">): Promise<number> {
  if (base === null) return 0;
  const isDataSet = base.endsWith("/");
  if (!isDataSet && (file === null || !existsSync(file))) return 0;
  const found = await findManifest(base).catch(() => null);
  return found?.output?.rows ?? 0;
}

import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { partPath } from "../sinks/file-destination.js";
import { finalPath } from "./final-path.js";
import type { OutputTarget } from "./open-output.js";

/** The run was killed between renaming its files and its end: its last step is done again. */
export async function takeNamesBack(
  { file }: OutputTarget,
  rejects: string | undefined,
  suffix: string,
): Promise<void> {
  const files = [file, rejects === undefined ? null : await finalPath(rejects)];
  for (const path of files) {
    if (path === null || existsSync(partPath(path)) || !existsSync(path + suffix)) continue;
    await rename(path + suffix, partPath(path));
  }
}

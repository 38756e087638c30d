import { existsSync } from "node:fs";
import { copyFile, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { syncFolder } from "../../core/files/make-folder.js";
import { partPath } from "../file-destination.js";
import { outputFault } from "../output-fault.js";
import type { PartRecord } from "../../core/manifest/manifest.js";

/** Moves a part to its final path. Does nothing if that has happened. @throws FatalError `output_*` */
export async function placePart(from: string, path: string): Promise<void> {
  try {
    if (existsSync(from)) await move(from, path);
    else if (!existsSync(path)) throw gone(path);
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(path, error);
  }
}

/** The name of the file that a part would replace, if their contents are the same; else null. */
export function keptName(
  earlier: PartRecord | undefined,
  { name, sha256 }: { readonly name: string; readonly sha256: string | null },
): string | null {
  if (earlier === undefined || sha256 === null || earlier.sha256 !== sha256) return null;
  const formOf = (part: string): string => part.slice(part.indexOf("."));
  return formOf(earlier.name) === formOf(name) ? earlier.name : null;
}

function gone(path: string): FatalError {
  const message = `the output of the finished run is missing: ${path}`;
  return new FatalError("output_gone", message, { hint: startOver });
}

/** Renames a file, or copies it to another file system. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    const copy = partPath(to);
    await copyFile(from, copy);
    const handle = await open(copy, "r+");
    await handle.sync();
    await handle.close();
    await rename(copy, to);
    await syncFolder(dirname(to));
    await rm(from);
  }
}

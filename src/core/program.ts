import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Name and version of the program, as its package says. */
export interface ProgramInfo {
  readonly name: string;
  readonly version: string;
}

/**
 * Path of a file or folder that comes with the package. This module lies two folders below its root
 * as source, as built and in the bundle.
 */
export function packagePath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** Reads the package's own name and version. */
export function programInfo(): ProgramInfo {
  const text = readFileSync(packagePath("package.json"), "utf8");
  const { name, version } = JSON.parse(text) as ProgramInfo;
  return { name, version };
}

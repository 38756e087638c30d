import { readFileSync } from "node:fs";

/** Name and version of the program, as its package says. */
export interface ProgramInfo {
  readonly name: string;
  readonly version: string;
}

/** Reads the package's own name and version; works from the sources and from the built program. */
export function programInfo(): ProgramInfo {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { name, version } = JSON.parse(text) as ProgramInfo;
  return { name, version };
}

import { statSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { environmentFiles } from "./cache-environment.js";

/**
 * A note beside a cache's file that says how it was left. A file that is still so needs no check
 * before it is mapped; any other may have been left by a kill, by a loss of power or in pieces.
 */
export function markClosed(folder: string): void {
  const state = stateOf(folder);
  if (state !== null) writeFileSync(join(folder, markFile), state, { mode: 0o600 });
}

/** True when the file is as it was when it was closed. */
export function isAsClosed(folder: string): boolean {
  try {
    return readFileSync(join(folder, markFile), "utf8") === stateOf(folder);
  } catch {
    return false;
  }
}

const markFile = "closed";

function stateOf(folder: string): string | null {
  try {
    const path = join(folder, environmentFiles.data);
    const { size, mtimeNs, ino } = statSync(path, { bigint: true });
    return `${size} bytes, changed at ${mtimeNs} ns, inode ${ino}\n`;
  } catch {
    return null;
  }
}

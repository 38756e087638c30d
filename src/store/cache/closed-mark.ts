import { statSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dataFile, environmentNames } from "./cache-environment.js";

/**
 * A note beside a cache's files that says how they were left. Files that are still so need no check
 * before they are mapped; any others may have been left by a kill, by a loss of power or in pieces.
 */
export function markClosed(folder: string): void {
  const state = stateOf(folder);
  if (state !== null) writeFileSync(join(folder, markFile), state, { mode: 0o600 });
}

/** True when the files are as they were when they were closed. */
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
    const lines = environmentNames.map((name) => {
      const path = join(folder, name, dataFile);
      const { size, mtimeNs, ctimeNs, ino } = statSync(path, { bigint: true });
      // A copy that keeps the time of the last change has another time of its inode.
      return `${name}: ${size} bytes, changed at ${mtimeNs} and ${ctimeNs} ns, inode ${ino}\n`;
    });
    return lines.join("");
  } catch {
    return null;
  }
}

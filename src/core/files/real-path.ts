import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Symbolic links followed one after the other, as on Linux. */
const mostLinks = 40;

/**
 * Resolves symbolic links. A missing file keeps its path; a link to a missing file stands for that
 * file, as it does for programs that open it for writing.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Some files have no path: the pipe behind /dev/stdout.
    return existsSync(path) ? resolve(path) : missingFile(path);
  }
}

function missingFile(path: string): string {
  let file = resolve(path);
  for (let links = 0; links < mostLinks; links++) {
    const folder = dirname(file);
    let target: string;
    try {
      target = readlinkSync(file);
    } catch {
      return file;
    }
    file = resolve(existsSync(folder) ? realpathSync(folder) : folder, target);
  }
  return resolve(path);
}

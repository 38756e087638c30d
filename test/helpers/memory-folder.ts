import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where Linux keeps files in memory. */
const memory = "/dev/shm";

/** Far more than the tests keep at any time. */
const room = 2 ** 31;

/**
 * Puts the temporary files of the tests in memory, unless `TMPDIR` says where: they sync thousands of
 * files, and a disk takes milliseconds for each.
 */
export function setup(): (() => void) | undefined {
  if (process.env["TMPDIR"] !== undefined) return undefined;
  const folder = roomyFolder();
  if (folder === null) return undefined;
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A folder in memory with room, and for programs, too; null if there is none. */
function roomyFolder(): string | null {
  let folder: string | null = null;
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < room) return null;
    folder = mkdtempSync(join(memory, "repute-tests-"));
    const program = join(folder, "program");
    writeFileSync(program, "", { mode: 0o700 });
    // Refused on file systems that are mounted for data only.
    accessSync(program, constants.X_OK);
    rmSync(program);
    return folder;
  } catch {
    if (folder !== null) rmSync(folder, { recursive: true });
    return null;
  }
}

import { existsSync, statSync } from "node:fs";
import { endianness } from "node:os";
import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { checkLmdbFile } from "../cache/lmdb-check.js";

/**
 * Makes sure that a journal which an earlier session left can be opened: LMDB ends the process by a
 * signal where its file is not what it was. What a loss of power left is for LMDB itself to mend.
 *
 * @throws FatalError `journal_damaged`
 */
export async function assureSound(folder: string): Promise<void> {
  const path = join(folder, "data.mdb");
  if (endianness() !== "LE" || !existsSync(path) || statSync(path).size === 0) return;
  const found = await checkLmdbFile(path, { thisBootOnly: true });
  if (found.state !== "damaged") return;
  throw new FatalError("journal_damaged", `the journal ${folder} is damaged: ${found.damage}`, {
    hint: "with --restart the run begins anew, without the journal",
  });
}

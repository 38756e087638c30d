import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { lmdbDamage } from "../cache/lmdb-check.js";

/**
 * Makes sure that a journal which an earlier session left can be opened: LMDB ends the process by a
 * signal where its file is not what it was. What a loss of power left is for LMDB itself to mend.
 *
 * @throws FatalError `journal_damaged`
 */
export async function assureSound(folder: string): Promise<void> {
  const damage = await lmdbDamage(join(folder, "data.mdb"));
  if (damage === null) return;
  throw new FatalError("journal_damaged", `the journal ${folder} is damaged: ${damage}`, {
    hint: "with --restart the run begins anew, without the journal",
  });
}

import { itemOf } from "../../client/lookup/attempt/journalled.js";
import { serviceAddress } from "../../client/store/cache-key.js";
import type { Taken } from "../../client/store/journal.js";
import type { OpenRun } from "./open-run.js";
import type { RunDatabase } from "./state/run-database.js";
import { serviceOf } from "./state/state-folder.js";

/** Age from which an answer is not taken over: 30 days, in milliseconds. */
const oldestMs = 30 * 24 * 3_600_000;

/**
 * Decides which answers of an interrupted run a new one takes over: those of the same service that
 * are younger than 30 days and that the exclusion lists still allow.
 *
 * @param partials whether partial answers are used
 * @returns undefined for none
 */
export async function takenAnswers(
  { job, clock, before, fingerprint }: Pick<OpenRun, "job" | "clock" | "before" | "fingerprint">,
  database: RunDatabase,
  partials: boolean,
): Promise<Taken | undefined> {
  const last = before?.answers.earlier ?? database.answers;
  if (last === 0) return undefined;
  if (before === null) {
    const service = database.read("service");
    if (serviceAddress(service?.name ?? "") !== serviceAddress(serviceOf({ fingerprint }).name)) {
      job.onNotice?.("the interrupted run asked another service; its answers are not used");
      database.forgetAnswers();
      return undefined;
    }
  }
  const withheld = await job.session.withheld(job.settings.lookup);
  const now = clock.now();
  return {
    last,
    isUsed({ kind, key, storedAt }) {
      if (kind === "failed" || (kind === "partial" && !partials)) return false;
      // A clock that is or was wrong can give a time in the future.
      if (Math.abs(now - storedAt) >= oldestMs) return false;
      return withheld.listOf(itemOf(key)) === null;
    },
  };
}

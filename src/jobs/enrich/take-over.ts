import { serviceAddress } from "../../client/store/cache-key.js";
import { readJournal } from "../../client/store/journal/journal.js";
import { itemOf } from "../../client/lookup/attempt/journalled.js";
import type { LookupRecord } from "../../core/finding.js";
import { madeUpOf } from "../../core/manifest.js";
import { counted } from "../../core/wording/quantity.js";
import type { LookupStore } from "../../client/store/store.js";
import type { EarlierRun } from "./state/state-folder.js";
import type { Fingerprint } from "./state/fingerprint.js";
import type { OpenRun } from "./open-run.js";

/** Age from which an answer is not taken over: 30 days, in milliseconds. */
const oldestMs = 30 * 24 * 3_600_000;

/**
 * Copies the answers of a discarded run into the journal of a new one: those of the same service that
 * are younger than 30 days and that the exclusion lists still allow. They do not count as lookups of
 * this run.
 *
 * @throws FatalError `journal_*`
 */
export async function takeOverAnswers(
  { job, clock, tally, fingerprint }: Pick<OpenRun, "job" | "clock" | "tally" | "fingerprint">,
  { journalPath, checkpoint }: EarlierRun,
  store: LookupStore,
  partialsFromCache = true,
): Promise<void> {
  const { settings, session, signal, onWarning, onNotice } = job;
  tally.tookOver = 0;
  if (serviceOf(fingerprint) !== serviceOf(checkpoint.fingerprint)) {
    onNotice?.("the interrupted run asked another service; its answers are not used");
    return;
  }
  const now = clock.now();
  const withheld = await session.withheld(settings.lookup);
  const isTaken = (key: string, { finding, again }: LookupRecord): boolean => {
    const { status, lookedUpAt } = finding;
    if (again !== null || status === "failed" || withheld.listOf(itemOf(key)) !== null)
      return false;
    if (status === "partial" && !partialsFromCache) return false;
    // A clock that is or was wrong can give a time in the future.
    return Math.abs(now - Date.parse(lookedUpAt ?? "")) < oldestMs;
  };
  const { journalBytes: durableBytes } = checkpoint;
  for await (const records of readJournal({ folder: journalPath, durableBytes, onWarning })) {
    signal.throwIfAborted();
    const taken = records.filter(({ key, value }) => isTaken(key, value));
    await Promise.all(
      taken.map(({ key, value: { finding } }) =>
        store.put(key, { finding, again: null, drift: [] }),
      ),
    );
    tally.tookOver += taken.length;
  }
  if (tally.tookOver > 0) tally.hasMadeUp(madeUpOf(checkpoint.tally));
  onNotice?.(`took over ${counted(tally.tookOver, "answer")} of the interrupted run`);
}

function serviceOf({ options }: Fingerprint): string {
  return serviceAddress(String(options["intel-url"]));
}

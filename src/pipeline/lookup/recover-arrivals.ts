import { rmSync } from "node:fs";
import { join } from "node:path";
import { judge } from "../../api/judge.js";
import { intelService } from "../../api/service-description.js";
import { arrivalFiles } from "../../api/thread/arrival-log.js";
import { type Arrived, readArrivals } from "../../api/thread/read-arrivals.js";
import type { Clock } from "../../core/clock.js";
import type { LookupRecord } from "../../core/attempt.js";
import { lookupEndpoints } from "../../core/finding.js";
import { journalFault } from "../../store/journal/journal-fault.js";
import { arrivedKey } from "../../lookup/attempt/recovered.js";
import type { LookupStore } from "../../store/store.js";

export interface RecoverOptions {
  /** Folder of the run's journal and of its log of arrivals. */
  readonly folder: string;
  readonly journal: LookupStore;
  readonly clock: Clock;
  /** Whether the journal gets the text of results as well. @default false */
  readonly asReceived?: boolean | undefined;
  /** True when a run asks no second time after a partial answer: then it is worth as much as a full one. */
  readonly partials: boolean;
  /** Told when the log is damaged. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Puts the answers that a killed run had, but had not kept, into its journal, by their paths; see
 * `recovered`. The log of arrivals is done with then.
 *
 * @throws FatalError when the journal cannot be written, or the log not removed
 */
export async function recoverArrivals(options: RecoverOptions): Promise<void> {
  const { folder, journal, onWarning } = options;
  for (const arrived of readArrivals(folder, onWarning)) {
    const record = recordFor(arrived, options);
    if (record !== null) await journal.put(arrivedKey(arrived.path), record);
  }
  try {
    for (const name of arrivalFiles) rmSync(join(folder, name), { recursive: true, force: true });
  } catch (error) {
    throw journalFault(folder, "write", error);
  }
}

/** What an answer says for good; null for what is to be asked again. */
function recordFor(arrived: Arrived, options: RecoverOptions): LookupRecord | null {
  const { clock, partials, asReceived } = options;
  const { path, answer, arrivedAt } = arrived;
  const endpoint = lookupEndpoints.find((one) => path.startsWith(`/${one}/`));
  // Any other status ends the run, or is worth another attempt.
  if (endpoint === undefined || ![200, 400, 503].includes(answer.status)) return null;
  const then: Clock = {
    now: () => arrivedAt,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  const bench = { service: intelService(false), clock: then, asReceived };
  const { finding, again, body } = judge({ endpoint, item: null }, answer, bench);
  if (finding.status === "failed") return null;
  if (again !== null && !(partials && again.policy === "partial")) return null;
  return { finding, again: null, drift: [], body };
}

import { UsageError } from "../../core/errors.js";
import type { StateFolder } from "../state/state-folder.js";
import type { EnrichJob, Manifest } from "../types.js";
import { endingOfError } from "./exit-reason.js";

/** Notes the counts of a run, to record them with its ending. */
export function endRecorder(job: EnrichJob): {
  readonly job: EnrichJob;
  /** Records in the state folder why the run ended, with its counts so far. */
  readonly record: (state: StateFolder, error: unknown) => Promise<void>;
} {
  let soFar: (() => Manifest) | null = null;
  return {
    job: {
      ...job,
      onStart(progress, record) {
        soFar = record;
        job.onStart?.(progress, record);
      },
    },
    async record(state, error) {
      // Wrong usage starts nothing, so the end before it still stands.
      if (error instanceof UsageError) return;
      const record = soFar === null ? await state.readRecord() : soFar();
      if (record !== null) await state.saveRecord({ ...record, ...endingOfError(error, true) });
    },
  };
}

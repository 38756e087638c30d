import { execute } from "./run/execute.js";
import { readingOf } from "./run/reading.js";
import type { EnrichJob, Manifest } from "./types.js";

/**
 * The main job: reads every row of the input, looks its item up and writes the enriched row.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, EarlyEndError,
 * InterruptedError
 */
export function enrich(job: EnrichJob): Promise<Manifest> {
  return execute(job, readingOf(job.input, job.settings, job.clock));
}

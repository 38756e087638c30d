import { execute } from "./execute.js";
import { orStopped } from "./or-stopped.js";
import { readingOf } from "./reading.js";
import type { EnrichJob, Manifest } from "./types.js";

/**
 * The main job: reads every row of the input, looks its item up and writes the enriched row.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, EarlyEndError,
 * InterruptedError
 */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { signal } = job;
  const sniffing = readingOf(job.input, job.settings, job.clock);
  const reading = await orStopped(sniffing, signal, () => Promise.resolve());
  return execute(job, {
    inputFormat: reading.format,
    options: reading.options,
    open: (resume) => reading.open(resume),
    begin: (lookup) => reading.begin(lookup),
  });
}

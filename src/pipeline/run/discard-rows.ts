import type { OutputTarget } from "../output/open-output.js";
import type { FoundRun } from "../state/state-folder.js";
import type { EnrichJob } from "../types.js";

/**
 * Takes away what an interrupted run left in a table, while its checkpoint still tells what that is.
 *
 * @throws ReputeError as the warehouse's kind
 */
export async function discardRows(
  job: EnrichJob,
  { warehouse, name, file }: OutputTarget,
  { checkpoint: found, finished }: FoundRun,
): Promise<void> {
  // A file is written anew from its first byte.
  if (warehouse === null || file !== null) return;
  if (found?.runId === undefined) {
    job.onWarning?.(
      `the checkpoint of the interrupted run cannot be read: what it wrote stays in ${name}`,
    );
    return;
  }
  const prefix = found.fingerprint?.options["prefix"];
  await warehouse.discard({
    runId: found.runId,
    prefix: typeof prefix === "string" ? prefix : job.settings.prefix,
    complete: finished,
  });
}

import type { SinkSettings } from "../outputs/options.js";
import type { EnrichJob } from "../run/types.js";
import type { Lookup } from "../lookup/types.js";
import { type EarlierRow, isNoWorse, shouldRetry } from "./earlier-record.js";
import { withKept } from "./kept-answers.js";
import type { StartRow } from "../run/rows/row-handling.js";

/** Looks up the failed and partial rows of an earlier output; a worse answer changes nothing. */
export function retryStart(lookup: Lookup): StartRow {
  return (row, signal) => {
    const before = row as EarlierRow;
    const { item, earlier } = before;
    if (item === null || !shouldRetry(before)) return { item, finding: earlier };
    const asked = lookup(item, { signal, row: row.number }).then((now) => withKept(before, now));
    return { item, finding: asked.then((now) => (isNoWorse(earlier, now) ? now : earlier)) };
  };
}

/** The same job with other settings of its output. */
export function withOutput(job: EnrichJob, output: Partial<SinkSettings>): EnrichJob {
  return { ...job, settings: { ...job.settings, output: { ...job.settings.output, ...output } } };
}

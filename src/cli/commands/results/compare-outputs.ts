import { abortable } from "../../../core/abort.js";
import { ReputeError } from "../../../core/errors.js";
import { faultOf, previousOutputs } from "../../../jobs/enrich/finish/previous-outputs.js";
import type { Output } from "../../../io/output/output.js";
import { readOutput } from "../../../io/output/read.js";
import { diffOutputs, type OutputDiff, comparedColumns } from "../../../jobs/diff/diff-outputs.js";
import type { Changes } from "../../../jobs/report/types.js";
import { redactAddress } from "../../../core/redaction.js";

/** Changes that a report lists. */
const mostListed = 25;

export interface Comparing {
  /** Prefix of the added columns. Default the one that each manifest notes. */
  readonly prefix?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compares two outputs. @throws as `readOutput`; the signal's reason */
export async function compareOutputs(
  earlier: Output,
  later: Output,
  { prefix, stateDir, signal }: Comparing,
): Promise<OutputDiff> {
  const rowsOf = async (output: Output) => {
    const { records } = await readOutput(output, prefix, comparedColumns, stateDir);
    return abortable(records, signal);
  };
  return diffOutputs(await rowsOf(earlier), await rowsOf(later));
}

/** What changed since an earlier output, for a report. @throws as `compareOutputs` */
export async function changesSince(
  earlier: Output,
  later: Output,
  comparing: Comparing,
): Promise<Changes> {
  await using diff = await compareOutputs(earlier, later, comparing);
  const worst = [];
  for (const change of diff.changes()) {
    if (worst.length === mostListed) break;
    worst.push(change);
  }
  return { earlier: redactAddress(earlier.given), counts: diff.counts, worst };
}

export interface PreviousOf {
  /** The outputs, with `{date}` or `{run_id}`. */
  readonly pattern: Output;
  /** The later output, which is one of them. */
  readonly own: Output;
}

/**
 * What changed since the newest earlier output of the same pattern that can be read; null if there is
 * none.
 *
 * @param onNotice called for each output that is passed over, and if there is none
 */
export async function changesSincePrevious(
  { pattern, own }: PreviousOf,
  later: Output,
  comparing: Comparing,
  onNotice: (message: string) => void,
): Promise<Changes | null> {
  for (const earlier of await previousOutputs(pattern, own)) {
    let fault = await faultOf(earlier, comparing.stateDir);
    try {
      if (fault === null) return await changesSince(earlier, later, comparing);
    } catch (error) {
      comparing.signal?.throwIfAborted();
      if (!(error instanceof ReputeError)) throw error;
      fault = error.message;
    }
    onNotice(`the report is not compared with ${earlier.given}: ${fault}`);
  }
  onNotice(`there is no earlier output of ${pattern.given} to compare the report with`);
  return null;
}

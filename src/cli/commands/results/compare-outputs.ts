import { abortable } from "../../../core/abort.js";
import { readOutput } from "../../../earlier/read-output.js";
import { diffOutputs, type OutputDiff } from "../../../report/diff/diff-outputs.js";
import { comparedColumns } from "../../../report/diff/observation.js";
import type { Changes } from "../../../report/types.js";
import { redactAddress } from "../../../core/redaction/redact-address.js";

/** Changes that a report lists. */
const mostListed = 25;

/** How to read two outputs. */
export interface Comparing {
  /** Prefix of the added columns. Default the one that each manifest notes. */
  readonly prefix?: string | undefined;
  /** The folder of `--state-dir`. */
  readonly stateDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compares two outputs as they are named. @throws as `readOutput`; the signal's reason */
export async function compareOutputs(
  earlier: string,
  later: string,
  { prefix, stateDir, signal }: Comparing,
): Promise<OutputDiff> {
  const rowsOf = async (path: string) => {
    const { records } = await readOutput(path, prefix, comparedColumns, stateDir);
    return abortable(records, signal);
  };
  return diffOutputs(await rowsOf(earlier), await rowsOf(later));
}

/** What changed since an earlier output, for a report. @throws as `compareOutputs` */
export async function changesSince(
  earlier: string,
  later: string,
  comparing: Comparing,
): Promise<Changes> {
  await using diff = await compareOutputs(earlier, later, comparing);
  const worst = [];
  for (const change of diff.changes()) {
    if (worst.length === mostListed) break;
    worst.push(change);
  }
  return { earlier: redactAddress(earlier), counts: diff.counts, worst };
}

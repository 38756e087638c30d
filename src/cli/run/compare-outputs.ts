import { readOutput } from "../../pipeline/retry/output-rows.js";
import { diffOutputs, type OutputDiff } from "../../report/diff/diff-outputs.js";
import { comparedColumns } from "../../report/diff/observation.js";
import type { Changes } from "../../report/types.js";
import { redactAddress } from "../../core/redact-address.js";

/** Changes that a report lists. */
const mostListed = 25;

/** Compares two outputs as they are named. @throws as `readOutput` */
export async function compareOutputs(
  earlier: string,
  later: string,
  prefix: string,
): Promise<OutputDiff> {
  const rowsOf = async (path: string) => (await readOutput(path, prefix, comparedColumns)).records;
  return diffOutputs(await rowsOf(earlier), await rowsOf(later));
}

/** What changed since an earlier output, for a report. @throws as `readOutput` */
export async function changesSince(
  earlier: string,
  later: string,
  prefix: string,
): Promise<Changes> {
  await using diff = await compareOutputs(earlier, later, prefix);
  const worst = [];
  for (const change of diff.changes()) {
    if (worst.length === mostListed) break;
    worst.push(change);
  }
  return { earlier: redactAddress(earlier), counts: diff.counts, worst };
}

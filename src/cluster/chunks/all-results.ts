import { counted, shellWord } from "../../core/text/quantity.js";
import { FatalError } from "../../core/errors.js";
import { type ChunkFault, type ChunkResult, isFault, readChunkResult } from "./chunk-result.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

/** Results read at a time. */
const parallel = 16;

/** The results in order. @throws FatalError `chunks_missing`, naming those that are not there */
export async function allResults(
  work: WorkFolder,
  plan: WorkPlan,
  signal: AbortSignal,
): Promise<readonly ChunkResult[]> {
  const results: ChunkResult[] = [];
  const faults: ChunkFault[] = [];
  for (let at = 0; at < plan.chunks.length; at += parallel) {
    signal.throwIfAborted();
    const planned = plan.chunks.slice(at, at + parallel);
    const found = await Promise.all(planned.map((chunk) => readChunkResult(work, plan, chunk)));
    for (const [index, result] of found.entries()) {
      if (result === null) faults.push({ chunk: planned[index]!.chunk, what: "not done" });
      else if (isFault(result)) faults.push(result);
      else results.push(result);
    }
  }
  if (faults.length > 0) throw unfinished(work, plan, faults);
  return results;
}

/** Most chunks named in a message. */
const mostNamed = 10;

/** The error for chunks that are not done or damaged. */
export function unfinished(
  work: WorkFolder,
  plan: WorkPlan,
  faults: readonly ChunkFault[],
): FatalError {
  const named = faults.slice(0, mostNamed);
  const more = faults.length > named.length ? [`and ${faults.length - named.length} more`] : [];
  const lines = [...named.map(({ chunk, what }) => `chunk ${chunk}: ${what}`), ...more];
  const numbers = named.map(({ chunk }) => chunk).join(" ");
  return new FatalError(
    "chunks_missing",
    `${faults.length} of ${counted(plan.chunks.length, "chunk")} in ${work.name} ${faults.length === 1 ? "is" : "are"} not done:\n  ${lines.join("\n  ")}`,
    {
      hint: `do them, then merge again: for n in ${numbers}; do repute enrich ${shellWord(work.name)} --chunk $n; done`,
    },
  );
}

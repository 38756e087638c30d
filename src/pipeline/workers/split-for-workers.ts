import { writeFile } from "node:fs/promises";
import type { Finding } from "../../core/finding.js";
import { outputFault } from "../../outputs/output-fault.js";
import { type RowsPerChunk, type SplitJob, splitWork } from "../chunks/split-work.js";
import type { WorkPlan } from "../chunks/work-plan.js";
import { readingOf } from "../run/reading.js";
import { marksName, SharedItems } from "./shared-items.js";

/** Nothing awaits it. */
const never = new Promise<Finding>(() => undefined);

/** Divides an input, and marks the items that several chunks have. */
export async function splitForWorkers(job: SplitJob): Promise<WorkPlan> {
  const { input, settings, clock, signal, work } = job;
  const items = new SharedItems();
  let chunk = 0;
  const mark = readingOf(input, settings, clock).start((item) => {
    items.add(item, chunk);
    return never;
  });
  const plan = await splitWork({
    ...job,
    onRow(row, of) {
      chunk = of;
      mark(row, signal);
    },
  });
  const path = work.pathOf(marksName);
  await writeFile(path, items.marks, { mode: 0o600 }).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  return plan;
}

/** Rows of a chunk; `unknown` if the size of the input is. */
const chunkRows = { least: 10_000, most: 100_000, unknown: 25_000 };

/**
 * Large chunks first, since each costs a start, and small ones last, so that all workers end at about
 * the same time.
 */
export function guidedRows(workers: number): RowsPerChunk {
  return (rows, share) => {
    if (share === null || share === 0) return chunkRows.unknown;
    const left = rows / share - rows;
    return Math.min(chunkRows.most, Math.max(chunkRows.least, Math.ceil(left / (2 * workers))));
  };
}

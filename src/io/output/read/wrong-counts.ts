import { findingStatuses, verdicts, type VerdictCounts } from "../../../core/finding.js";
import type { LeftOutCounts, Manifest } from "../../../core/manifest/manifest.js";
import type { RowCounts } from "../../../core/row.js";
import type { Counted } from "../../formats/types.js";

/** Counts of all rows of a run. */
type AllRows = RowCounts & { readonly verdicts: Readonly<VerdictCounts> };

/** Counts as a run recorded them. */
type RecordedCounts = Pick<Manifest, "statuses" | "verdicts"> & {
  readonly rows: number;
};

/** A count that differs between the record and the output. */
interface WrongCount {
  readonly what: string;
  readonly recorded: number | null | undefined;
  readonly found: number | null | undefined;
}

/** Compares recorded counts with an output. A bundle has no rows to count. */
export function wrongCounts(recorded: RecordedCounts, found: Counted): readonly WrongCount[] {
  const wrong: WrongCount[] = [];
  const check = (what: string, expected?: number | null, there?: number | null) => {
    if (expected !== there) wrong.push({ what, recorded: expected, found: there });
  };
  if (found.statuses !== null) check("rows", recorded.rows, found.rows);
  for (const status of found.statuses === null ? [] : findingStatuses) {
    check(`rows ${status}`, recorded.statuses[status], found.statuses?.[status]);
  }
  for (const verdict of found.verdicts === null ? [] : verdicts) {
    check(`verdict ${verdict}`, recorded.verdicts[verdict], found.verdicts?.[verdict]);
  }
  return wrong;
}

/** The counts of the written rows among all. */
export function writtenOf(all: AllRows, leftOut: LeftOutCounts | undefined): AllRows {
  if (leftOut === undefined) return all;
  const less = <K extends string>(from: Readonly<Record<K, number>>, by: Record<K, number>) =>
    Object.fromEntries(
      Object.entries<number>(from).map(([name, n]) => [name, n - by[name as K]]),
    ) as Record<K, number>;
  return {
    rows: all.rows - leftOut.distinct - leftOut.only,
    statuses: less(all.statuses, leftOut.statuses),
    verdicts: less(all.verdicts, leftOut.verdicts),
  };
}

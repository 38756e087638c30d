import { findingStatuses, verdicts, type VerdictCounts } from "../../core/finding.js";
import type { Audit } from "../../outputs/types.js";
import type { LeftOutCounts, Manifest } from "../../core/manifest/manifest.js";
import type { RowCounts } from "../../core/row.js";
import type { TallySnapshot } from "../tally.js";

/** Counts of all rows of a run. */
type AllRows = RowCounts & { readonly verdicts: Readonly<VerdictCounts> };

/** Counts as a run recorded them. */
type RecordedCounts = Pick<Manifest, "statuses" | "verdicts"> & {
  readonly rows: number;
};

/** A count that differs between the record and the output. */
interface WrongCount {
  /** Label of the count, and the same as a phrase that follows a number. */
  readonly what: string;
  readonly phrase: string;
  readonly recorded: number | null | undefined;
  readonly found: number | null | undefined;
}

/** Compares recorded counts with an output. A bundle has no rows to count. */
export function wrongCounts(recorded: RecordedCounts, found: Audit): readonly WrongCount[] {
  const wrong: WrongCount[] = [];
  const check = (what: string, phrase: string, recorded?: number | null, there?: number | null) => {
    if (recorded !== there) wrong.push({ what, phrase, recorded, found: there });
  };
  if (found.statuses !== null) check("rows", "rows written", recorded.rows, found.rows);
  for (const status of found.statuses === null ? [] : findingStatuses) {
    const rows = `rows ${status}`;
    check(rows, rows, recorded.statuses[status], found.statuses?.[status]);
  }
  for (const verdict of found.verdicts === null ? [] : verdicts) {
    const phrase = `rows with the verdict ${verdict}`;
    check(`verdict ${verdict}`, phrase, recorded.verdicts[verdict], found.verdicts?.[verdict]);
  }
  return wrong;
}

/**
 * What is wrong with the counts of a run: rows read = rows written, skipped or left out = the sum of
 * the statuses, in memory and in the output, whose verdicts are those counted.
 */
export function countFaults(
  rowsRead: number,
  counts: Pick<TallySnapshot, "rows" | "skipped" | "statuses" | "verdicts" | "left_out">,
  audit: Audit | null,
): readonly string[] {
  const { rows, skipped = 0, statuses, left_out } = counts;
  const also = skipped === 0 ? "" : `, ${skipped} skipped`;
  const counted = findingStatuses.reduce((sum, status) => sum + statuses[status], 0);
  const wrong = audit === null ? [] : wrongCounts(writtenOf(counts, left_out), audit);
  return [
    ...(rows + skipped === rowsRead ? [] : [`${rowsRead} rows read, ${rows} written${also}`]),
    ...(counted === rows ? [] : [`${rows} rows written, ${counted} with a status`]),
    ...wrong.map(({ phrase, recorded, found }) => `${recorded} ${phrase}, ${found} in the output`),
  ];
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

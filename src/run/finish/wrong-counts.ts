import { findingStatuses, verdicts } from "../../core/finding.js";
import type { Audit } from "../../outputs/types.js";
import type { Manifest } from "../../core/manifest/manifest.js";

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

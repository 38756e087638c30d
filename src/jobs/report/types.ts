import type { FoundManifest } from "../../core/manifest.js";
import type { FindingStatus, Verdict } from "../../core/finding.js";
import type { Days } from "./timeline.js";
import type { Change, DiffCounts } from "../diff/diff-outputs.js";

/** A verdict; or, for a row without one, `part` if a part of an answer is there, else `unchecked`. */
type Outcome = Verdict | "part" | "unchecked";

export type OutcomeCounts = Record<Outcome, number>;

interface NameCount {
  readonly name: string;
  readonly count: number;
}

export interface TopCounts {
  readonly entries: readonly NameCount[];
  /** Distinct names counted, those not among the entries included. */
  readonly distinct: number;
  /** Rows with names beyond the most that are kept apart; 0 where every name was counted. */
  readonly uncounted: number;
}

/** Why rows have no verdict: the name is the code of an error, or what a partial answer lacks. */
interface Reason extends NameCount {
  readonly status: FindingStatus;
  readonly meaning: string;
}

export interface Offender {
  readonly kind: string;
  readonly item: string;
  readonly verdict: Verdict;
  readonly rows: number;
  readonly tags: readonly string[];
  readonly observations: number;
  readonly lastSeen: string;
  /** AS number, name and country as far as they are known. */
  readonly network: string;
  readonly abuseEmail: string;
  readonly abuseStatus: string;
  /** The input's own columns in the item's first row: name and cell. */
  readonly own: readonly (readonly [name: string, cell: string])[];
}

interface Offenders {
  readonly worst: readonly Offender[];
  /** Distinct items with a verdict against them. */
  readonly items: number;
  /** There were more distinct items than the report tracks. */
  readonly itemsAreMore: boolean;
}

export interface Changes {
  readonly earlier: string;
  readonly counts: DiffCounts;
  readonly worst: readonly Change[];
}

export interface Report {
  readonly output: string;
  readonly rows: number;
  readonly outcomes: OutcomeCounts;
  /** Outcomes by kind of item, the most frequent kind first; "" for rows without an item. */
  readonly kinds: readonly { readonly kind: string; readonly outcomes: OutcomeCounts }[];
  readonly tags: TopCounts;
  /** Networks of rows with a verdict against the item. */
  readonly networks: TopCounts;
  readonly countries: TopCounts;
  readonly firstSeen: Days;
  readonly lastSeen: Days;
  readonly offenders: Offenders;
  readonly reasons: readonly Reason[];
  readonly sources: Readonly<Record<string, number>>;
  /** The manifest of its run; null without one. */
  readonly run: FoundManifest | null;
  /** Null without an earlier output (`--against`). */
  readonly changes: Changes | null;
}

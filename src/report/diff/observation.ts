import { type Verdict, verdicts } from "../../core/finding.js";
import type { EarlierRecord } from "../../formats/types.js";

/** What an output says about one item. */
export interface Observation {
  /** Null when the lookup brought no answer. */
  readonly verdict: Verdict | null;
  /** Tags joined with `|`, sorted. */
  readonly tags: string;
  /** Autonomous system, e.g. `AS64496`; "" when unknown. */
  readonly asn: string;
  readonly asName: string;
  readonly abuseEmail: string;
}

/** Columns that a comparison reads. */
export const comparedColumns = [
  "kind",
  "item",
  "verdict",
  "tags",
  "asn",
  "as_name",
  "abuse_email",
  "looked_up_at",
] as const;

export function observationOf(row: Pick<EarlierRecord, "text" | "list">): Observation {
  const verdict = row.text("verdict");
  return {
    verdict: verdicts.find((known) => known === verdict) ?? null,
    tags: [...row.list("tags")].sort().join("|"),
    asn: row.text("asn"),
    asName: row.text("as_name"),
    abuseEmail: row.text("abuse_email"),
  };
}

import { type Verdict, verdicts } from "../../core/finding.js";
import { lackedMembers } from "../../formats/answered-lookups.js";
import type { EarlierRecord } from "../../formats/types.js";

/** What an output says about one item. */
export interface Observation {
  /** Null when it is unknown. */
  readonly verdict: Verdict | null;
  /** Tags joined with `|`, sorted. Null, like the others, if no answer has this member. */
  readonly tags: string | null;
  /** Autonomous system, e.g. `AS64496`; "" for none. */
  readonly asn: string | null;
  readonly asName: string | null;
  readonly abuseEmail: string | null;
}

/** Columns that a comparison reads. */
export const comparedColumns = [
  "kind",
  "item",
  "status",
  "verdict",
  "missing",
  "type",
  "quick_intent",
  "quick_mail_blocklist",
  "tags",
  "asn",
  "as_name",
  "abuse_email",
  "looked_up_at",
] as const;

type Columns = Pick<EarlierRecord, "text" | "list">;

export function observationOf(row: Columns): Observation {
  const verdict = row.text("verdict");
  const missing = row.text("type") === "" ? null : row.list("missing");
  const isKnown = (member: string): boolean => missing?.includes(member) === false;
  return {
    verdict: verdicts.find((known) => known === verdict) ?? null,
    tags: isKnown("tags") ? [...row.list("tags")].sort().join("|") : null,
    asn: isKnown("asn") ? row.text("asn") : null,
    asName: isKnown("asn") ? row.text("as_name") : null,
    abuseEmail: isKnown("abuseContact") ? row.text("abuse_email") : null,
  };
}

/** Whether an `intent` that is missing could make the verdict graver. */
export function couldBeGraver(row: Columns): boolean {
  const status = row.text("status");
  return status === "failed" || status === "invalid" || lackedMembers(row).includes("intent");
}

import { type Verdict, verdicts } from "../../core/finding.js";
import { decisiveMembers, isOtherWord } from "../../core/verdict.js";
import type { OutputRecord } from "../../io/formats/types.js";

export interface Observation {
  readonly verdict: Verdict | null;
  /** Tags joined with `|`, sorted. Null, like the others, if no answer has this member. */
  readonly tags: string | null;
  /** Autonomous system, e.g. `AS64496`; "" for none. */
  readonly asn: string | null;
  readonly asName: string | null;
  readonly abuseEmail: string | null;
}

export const comparedColumns = [
  "kind",
  "item",
  "status",
  "verdict",
  "missing",
  "type",
  "intent",
  "mail_blocklist",
  "quick_intent",
  "quick_mail_blocklist",
  "tags",
  "asn",
  "as_name",
  "abuse_email",
  "looked_up_at",
] as const;

type Columns = Pick<OutputRecord, "text" | "list">;

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

/**
 * How grave each decisive member is, of the query and of the quick check. Null where a lookup failed or
 * its answer lacks the member or has an undocumented word; 0 where the lookup was not asked.
 */
export function weightsOf(row: Columns): readonly (number | null)[] {
  const status = row.text("status");
  const isLost = status === "failed" || status === "invalid";
  const missing = row.list("missing");
  return decisiveMembers.flatMap((member) => {
    const isMissing = missing.includes(member);
    const [query, quick] = [row.text(columnOf[member]), row.text(`quick_${columnOf[member]}`)];
    const weightOf = (word: string): number | null =>
      word !== "" && isOtherWord(member, word) ? null : (weights.get(word) ?? 0);
    return [
      isMissing || (isLost && row.text("type") === "") ? null : weightOf(query),
      quick === "" && (isLost || isMissing) ? null : weightOf(quick),
    ];
  });
}

export const weightColumns = ["w1", "w2", "w3", "w4"] as const;

/** The gravest that a side says with the members that both sides know, as SQL. */
export function shared(side: "e" | "l"): string {
  const other = side === "e" ? "l" : "e";
  // NULL where either side lacks the member.
  const weights = weightColumns.map(
    (name) => `coalesce(${side}.${name} + 0 * ${other}.${name}, 0)`,
  );
  return `max(${weights.join(", ")})`;
}

const columnOf = { intent: "intent", serviceMailBlocklist: "mail_blocklist" } as const;

const weights: ReadonlyMap<string, number> = new Map([
  ["malicious", 3],
  ["suspicious", 2],
  ["ACTIVE", 1],
]);

import { counted, formatCount, formatPercent } from "../../core/wording/quantity.js";
import type { OutcomeCounts, Report, TopCounts } from "./types.js";

/** What each outcome is called; `none` never reads as safe. */
export const outcomeNames: Readonly<Record<keyof OutcomeCounts, string>> = {
  malicious: "malicious",
  suspicious: "suspicious",
  listed: "on a mail blocklist",
  none: "nothing known",
  part: "too little known",
  unchecked: "not checkable",
};

/** What a kind of item is called; "" stands for rows without an item. */
export function kindName(kind: string): string {
  return kind === "" ? "no item" : kind.replace("_", " ");
}

export function headline({ rows, outcomes }: Report): string {
  if (rows === 0) return "There were no rows to check.";
  if (outcomes.unchecked === rows) return "No row could be checked.";
  const found = (["malicious", "suspicious", "listed"] as const).filter(
    (name) => outcomes[name] > 0,
  );
  const [first, ...others] = found.map(
    (name) => `${formatCount(outcomes[name])} ${outcomeNames[name]}`,
  );
  if (first === undefined) return nothingFound(outcomes.none, rows);
  const list =
    others.length === 0
      ? first
      : `${[first, ...others.slice(0, -1)].join(", ")} and ${others.at(-1)}`;
  return `Of ${counted(rows, "row")}, ${list.replace(" ", outcomes[found[0]!] === 1 ? " is " : " are ")}.`;
}

function nothingFound(none: number, rows: number): string {
  if (none === 0) return "No row has a verdict.";
  return none < rows
    ? `Nothing is known against ${formatCount(none)} of the ${counted(rows, "row")}.`
    : "Nothing is known against any row.";
}

/** What the sentence leaves open. */
export function headlineDetail({ rows, outcomes }: Report): string {
  const parts: string[] = [];
  const { none, part, unchecked } = outcomes;
  if (none > 0) {
    parts.push(
      `Nothing is known against ${formatCount(none)} (${formatPercent(none, rows)}), which does not make ${none === 1 ? "it" : "them"} safe.`,
    );
  }
  if (unchecked > 0) {
    parts.push(
      `${formatCount(unchecked)} (${formatPercent(unchecked, rows)}) could not be checked.`,
    );
  }
  if (part > 0) {
    const were = part === 1 ? "was" : "were";
    parts.push(
      `${formatCount(part)} (${formatPercent(part, rows)}) ${were} answered in part, too little for a verdict.`,
    );
  }
  return parts.join(" ");
}

/** What a list by frequency leaves out; "" for nothing. */
export function moreText({ entries, distinct, uncounted }: TopCounts): string {
  const more = distinct - entries.length;
  const rest = `, and ${counted(uncounted, "row")} whose names were too many to tell apart`;
  return more > 0 ? `${formatCount(more)} more${uncounted > 0 ? rest : ""}` : "";
}

import { recordWriter, withoutFormula } from "../../formats/csv/csv-writer.js";
import { joinedEntries } from "../../formats/column-types.js";
import { formatCount } from "../../core/text/quantity.js";
import { cutList, cutText, longestName } from "../cut-text.js";
import { type Change, changeKinds, type DiffCounts } from "./diff-outputs.js";
import type { Observation } from "./observation.js";

const sides = ["earlier", "later"] as const;

const fields = {
  verdict: ({ verdict }: Observation) => verdict ?? "",
  tags: ({ tags }: Observation) => tags ?? "",
  asn: ({ asn }: Observation) => asn ?? "",
  as_name: ({ asName }: Observation) => asName ?? "",
  abuse_email: ({ abuseEmail }: Observation) => abuseEmail ?? "",
} as const;

/** Changes as CSV: a header, then one record each. Cells can't run as formulas in a spreadsheet. */
export function* csvLines(changes: Iterable<Change>): Generator<string> {
  const write = recordWriter(",");
  const names = Object.keys(fields).flatMap((field) => sides.map((side) => `${side}_${field}`));
  yield write(["change", "kind", "item", "what", ...names]);
  for (const { change, kind, item, what, ...observed } of changes) {
    const values = Object.values(fields).flatMap((valueOf) =>
      sides.map((side) => (observed[side] === null ? "" : valueOf(observed[side]))),
    );
    yield write([change, kind, item, what.join("|"), ...values].map(withoutFormula));
  }
}

/** Changes as NDJSON: one object each, `null` for the side that lacks the item. */
export function* ndjsonLines(changes: Iterable<Change>): Generator<string> {
  for (const { earlier, later, ...change } of changes) {
    yield `${JSON.stringify({ ...change, earlier: memberOf(earlier), later: memberOf(later) })}\n`;
  }
}

function memberOf(observation: Observation | null): object | null {
  if (observation === null) return null;
  const { verdict, tags, asn, asName, abuseEmail } = observation;
  return {
    verdict,
    tags: tags === null ? null : joinedEntries(tags),
    asn: asn || null,
    as_name: asName || null,
    abuse_email: abuseEmail || null,
  };
}

/**
 * What differs, in one phrase: `none → malicious; tags +scanner:ssh; network AS64496 → AS64500`; of a
 * new item its verdict and tags, of one that is gone its verdict.
 */
export function changePhrase({ what, earlier, later }: Change): string {
  if (earlier === null || later === null) {
    const verdict = (earlier ?? later)?.verdict ?? "unknown";
    return [verdict, later === null ? "" : newTags(later)].filter((part) => part !== "").join("; ");
  }
  const parts: Readonly<Record<string, () => string>> = {
    verdict: () => `${earlier.verdict} → ${later.verdict}`,
    tags: () => `tags ${tagChanges(earlier.tags ?? "", later.tags ?? "")}`,
    network: () => `network ${shown(earlier.asn)} → ${shown(later.asn)}`,
    contact: () => `contact ${shown(earlier.abuseEmail)} → ${shown(later.abuseEmail)}`,
  };
  return what.map((name) => parts[name]?.() ?? name).join("; ");
}

/** Tags of a new item: `tags +scanner:ssh`; "" for none. */
export function newTags({ tags }: Observation): string {
  return tags === null || tags === "" ? "" : `tags ${tagChanges("", tags)}`;
}

function tagChanges(earlier: string, later: string): string {
  const [before, after] = [joinedEntries(earlier), joinedEntries(later)];
  const [had, has] = [new Set(before), new Set(after)];
  const changed = [
    ...after.filter((tag) => !had.has(tag)).map((tag) => `+${tag}`),
    ...before.filter((tag) => !has.has(tag)).map((tag) => `-${tag}`),
  ];
  return cutList(changed, tagsListed).join(" ");
}

/** Tags that a phrase names; files of changes have them all. */
const tagsListed = 12;

function shown(value: string | null): string {
  return cutText(value || "unknown", longestName);
}

export function changeTotal(counts: DiffCounts): number {
  return changeKinds.reduce((sum, kind) => sum + counts[kind], 0);
}

/** `1 new malicious, 2 worse, 3 new with nothing known, 4 gone; 20 the same`. */
export function changeCounts(counts: DiffCounts): string {
  const { newVerdicts, changed, better, gone, same, unanswered } = counts;
  const parts = [
    ...graveCounts(counts),
    ...nonZero([
      [newVerdicts.none, "new with nothing known"],
      [newVerdicts.unknown, "new and unknown"],
      [changed, "changed"],
      [better, "better"],
      [gone, "gone"],
    ]),
  ];
  const rest = [`${formatCount(same)} the same`, ...nonZero([[unanswered, "unknown on one side"]])];
  return `${parts.length === 0 ? "Nothing changed" : parts.join(", ")}; ${rest.join(", ")}`;
}

/** What calls for attention: `46 new malicious`, `3 worse`. */
export function graveCounts({ newVerdicts, worse }: DiffCounts): readonly string[] {
  return nonZero([
    [newVerdicts.malicious, "new malicious"],
    [newVerdicts.suspicious, "new suspicious"],
    [newVerdicts.listed, "new listed"],
    [worse, "worse"],
  ]);
}

function nonZero(counts: readonly (readonly [count: number, name: string])[]): readonly string[] {
  return counts.flatMap(([count, name]) => (count === 0 ? [] : [`${formatCount(count)} ${name}`]));
}

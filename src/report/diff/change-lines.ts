import { recordWriter, withoutFormula } from "../../formats/csv/csv-writer.js";
import { formatCount } from "../../core/quantity.js";
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
    tags: tags === null ? null : tagList(tags),
    asn: asn || null,
    as_name: asName || null,
    abuse_email: abuseEmail || null,
  };
}

function tagList(tags: string): readonly string[] {
  return tags === "" ? [] : tags.split("|");
}

/** What differs, in one phrase: `none → malicious; tags +scanner:ssh; network AS64496 → AS64500`. */
export function changePhrase({ what, earlier, later }: Change): string {
  if (earlier === null || later === null) return (earlier ?? later)?.verdict ?? "unknown";
  const parts: Readonly<Record<string, () => string>> = {
    verdict: () => `${earlier.verdict} → ${later.verdict}`,
    tags: () => `tags ${tagChanges(earlier.tags ?? "", later.tags ?? "")}`,
    network: () => `network ${shown(earlier.asn)} → ${shown(later.asn)}`,
    contact: () => `contact ${shown(earlier.abuseEmail)} → ${shown(later.abuseEmail)}`,
  };
  return what.map((name) => parts[name]?.() ?? name).join("; ");
}

function tagChanges(earlier: string, later: string): string {
  const [before, after] = [tagList(earlier), tagList(later)];
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

/** Number of items that changed. */
export function changeTotal(counts: DiffCounts): number {
  return changeKinds.reduce((sum, kind) => sum + counts[kind], 0);
}

/** `2 worse, 1 new, 0 changed, 0 better, 4 gone; 20 the same`. */
export function changeCounts(counts: DiffCounts): string {
  const parts = changeKinds.map((kind) => `${formatCount(counts[kind])} ${kind}`).join(", ");
  const unanswered =
    counts.unanswered === 0 ? "" : `, ${formatCount(counts.unanswered)} unknown on one side`;
  return `${parts}; ${formatCount(counts.same)} the same${unanswered}`;
}

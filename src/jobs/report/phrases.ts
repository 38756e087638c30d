import { detached } from "../../core/bytes.js";
import { formatCount } from "../../core/wording/quantity.js";
import { type Change, changeKinds, type DiffCounts } from "../diff/diff-outputs.js";

/**
 * What differs, in one phrase: `none → malicious; tags +scanner:ssh; network AS64496 → AS64500`; of a
 * new item its verdict and tags, of one that is gone its verdict.
 */
export function changePhrase({ what, earlier, later }: Change): string {
  if (earlier === null || later === null) {
    const verdict = (earlier ?? later)?.verdict ?? "unknown";
    return [verdict, later && newTags(later)].filter(Boolean).join("; ");
  }
  const parts: Readonly<Record<string, () => string>> = {
    verdict: () => `${earlier.verdict} → ${later.verdict}`,
    tags: () => `tags ${tagChanges(earlier.tags ?? [], later.tags ?? [])}`,
    network: () => `network ${shown(earlier.asn)} → ${shown(later.asn)}`,
    contact: () => `contact ${shown(earlier.abuse_email)} → ${shown(later.abuse_email)}`,
  };
  return what.map((name) => parts[name]?.() ?? name).join("; ");
}

/** Tags of a new item: `tags +scanner:ssh`; "" for none. */
export function newTags({ tags }: NonNullable<Change["later"]>): string {
  return tags === null || tags.length === 0 ? "" : `tags ${tagChanges([], tags)}`;
}

function tagChanges(before: readonly string[], after: readonly string[]): string {
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

/** Cuts a text that is too long to show, and says how long it was. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = detached(text.slice(0, most).replace(/[\uD800-\uDBFF]$/, ""));
  return `${start}… (${formatCount(text.length)} characters)`;
}

/** The first names of a list and how many more there are, each short enough to show. */
export function cutList(names: readonly string[], most: number): readonly string[] {
  const shown = names.slice(0, most).map((name) => cutText(name, longestName));
  const more = names.length - shown.length;
  return more > 0 ? [...shown, `and ${formatCount(more)} more`] : shown;
}

export const longestName = 120;

/**
 * Makes an item unfit for clicking, as analysts write it: `192[.]0[.]2[.]1`,
 * `hxxp://example[.]com/`, `user[@]example[.]net`. No program makes a bare IPv6 address clickable, so
 * it stays as it is.
 */
export function defang(item: string, kind: string): string {
  if (kind === "url") return defangLinks(item).replace(/(?<=^\w+:\/\/)[^/?#]+/, defangDots);
  const isPlain = kind === "ip" || kind === "domain" || kind === "email";
  return isPlain ? defangDots(item.replaceAll("@", "[@]")) : item;
}

/** Undoes the schemes of links within a text, so that no reader makes them clickable. */
export function defangLinks(text: string): string {
  return text
    .replaceAll(/\bhttp(?=s?:)/gi, "hxxp")
    .replaceAll(/\b(ftp|javascript|data|file|vbscript):/gi, "$1[:]");
}

function defangDots(text: string): string {
  return text.replaceAll(".", "[.]");
}

import { madeUpText } from "../../core/finding.js";
import { printable, wrapText } from "../../core/wording/printable.js";
import { counted, formatCount, formatPercent } from "../../core/wording/quantity.js";
import { defang, changeCounts, changePhrase, changeTotal } from "./phrases.js";
import { headline, headlineDetail, kindName, moreText, outcomeNames } from "./headline.js";
import { outcomes, total } from "./report-tally.js";
import { madeUpOf } from "../../core/manifest.js";
import { runFacts } from "./run-facts.js";
import { bucketName, timelineOf } from "./timeline.js";
import type { Offender, Report, TopCounts } from "./types.js";

/** Items listed in text; the page has more. */
const itemsShown = 10;

/** Parts of the time axis shown in text: the latest. */
const bucketsShown = 12;

/** The report as text of at most `width` columns, with bars. */
export function reportText(report: Report, width: number): string {
  const wide = Math.max(40, Math.min(width, 100));
  const madeUp = madeUpOf(report.run ?? {});
  const parts = [
    wrapText(headline(report), wide),
    wrapText(headlineDetail(report), wide),
    madeUp === undefined ? "" : wrapText(`${madeUpText[madeUp].join(": ")}.`, wide),
    section("What changed", changesLines(report, wide)),
    section(
      "Verdicts",
      report.rows === 0
        ? []
        : barLines(
            outcomes.map((outcome) => ({
              name: outcomeNames[outcome],
              count: report.outcomes[outcome],
            })),
            wide,
            report.rows,
          ),
    ),
    section(
      "Kinds",
      barLines(
        report.kinds.map(({ kind, outcomes: counts }) => ({
          name: kindName(kind),
          count: total(counts),
        })),
        wide,
      ),
    ),
    section("Tags", topLines(report.tags, wide)),
    section("Networks of rows with a verdict", topLines(report.networks, wide)),
    section("Their countries", topLines(report.countries, wide)),
    section("Last seen", timeLines(report, wide)),
    section("Worst items", offenderLines(report, wide)),
    section("Without a verdict", reasonLines(report, wide)),
    section("Not sent, as you asked", excludedLines(report, wide)),
    section(
      "The run",
      runFacts(report).map(
        ({ name, value }) => `${name.padEnd(9)} ${shortened(printable(value), wide - 12)}`,
      ),
    ),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

function topLines(counts: TopCounts, width: number): string[] {
  const more = moreText(counts);
  return [
    ...barLines(counts.entries, width),
    ...(more === "" ? [] : wrapText(more, width - 2).split("\n")),
  ];
}

/** A line for each count: name, bar and number; with `whole` also the share. */
function barLines(
  list: readonly { readonly name: string; readonly count: number }[],
  width: number,
  whole = 0,
): string[] {
  const most = Math.max(1, ...list.map(({ count }) => count));
  const numbers = list.map(({ count }) => formatCount(count));
  const numberWidth = Math.max(0, ...numbers.map(({ length }) => length));
  const shareWidth = whole > 0 ? 8 : 0;
  const names = list.map(({ name }) => shortened(printable(name), Math.floor(width * 0.45)));
  const nameWidth = Math.max(0, ...names.map(({ length }) => length));
  const barWidth = Math.min(40, width - 2 - nameWidth - numberWidth - shareWidth - 3);
  return list.map(({ count }, index) => {
    const share = whole > 0 ? formatPercent(count, whole).padStart(shareWidth) : "";
    const bar = barOf(count / most, barWidth).padEnd(barWidth);
    return `${names[index]!.padEnd(nameWidth)}  ${bar} ${numbers[index]!.padStart(numberWidth)}${share}`;
  });
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** Counts above zero have a visible bar. */
function barOf(share: number, width: number): string {
  const parts = share > 0 ? Math.max(1, Math.round(share * width * 8)) : 0;
  return "█".repeat(parts >> 3) + eighths[parts & 7];
}

function timeLines(report: Report, width: number): string[] {
  const timeline = timelineOf(report);
  if (timeline === null) return [];
  const { unit, buckets } = timeline;
  const list = buckets.slice(-bucketsShown).map(({ start, lastSeen }) => ({
    name: bucketName(unit, start),
    count: lastSeen,
  }));
  return barLines(list, width);
}

function offenderLines(
  { offenders: { worst, items, itemsAreMore } }: Report,
  width: number,
): string[] {
  const indent = " ".repeat(12);
  const lines: string[] = [];
  for (const offender of worst.slice(0, itemsShown)) {
    const item = printable(defang(offender.item, offender.kind));
    lines.push(offender.verdict.padEnd(indent.length) + shortened(item, width - 14));
    for (const fact of about(offender)) lines.push(indent + shortened(printable(fact), width - 14));
  }
  const more = items - Math.min(worst.length, itemsShown);
  const count = `${itemsAreMore ? "more than " : ""}${formatCount(more)}`;
  if (more > 0)
    lines.push(
      ...wrapText(`${count} more; see the output, or -o REPORT.html`, width - 4).split("\n"),
    );
  return lines;
}

function about({ tags, observations, network, abuseEmail, rows }: Offender): string[] {
  const facts = [
    ...tags,
    observations > 0 ? counted(observations, "observation") : "",
    rows > 1 ? counted(rows, "row") : "",
  ].filter((text) => text !== "");
  return [facts.join(", "), [network, abuseEmail].filter((text) => text !== "").join(", ")].filter(
    (line) => line !== "",
  );
}

function reasonLines({ reasons }: Report, width: number): string[] {
  const wide = Math.max(0, ...reasons.map(({ count }) => formatCount(count).length));
  return reasons.map(({ count, status, name, meaning }) => {
    const why = printable([status, meaning || name].filter((text) => text !== "").join(": "));
    return `${formatCount(count).padStart(wide)}  ${shortened(why, width - wide - 4)}`;
  });
}

function excludedLines({ run }: Report, width: number): string[] {
  const { exclusions = [] } = run ?? {};
  const wide = Math.max(0, ...exclusions.map(({ rows }) => formatCount(rows).length));
  return exclusions.map(({ path, entries, rows }) => {
    const list = `${printable(path)}, ${entries === 1 ? "1 entry" : `${formatCount(entries)} entries`}`;
    return `${formatCount(rows).padStart(wide)}  ${shortened(list, width - wide - 4)}`;
  });
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}

/** Changes listed in text; the page has more. */
const changesShown = 10;

function changesLines({ changes }: Report, width: number): readonly string[] {
  if (changes === null) return [];
  const { counts, worst, earlier } = changes;
  const lines = wrapText(`${changeCounts(counts)} since ${printable(earlier)}`, width - 2).split(
    "\n",
  );
  for (const change of worst.slice(0, changesShown)) {
    const item = defang(change.item, change.kind);
    const text = printable(`${change.change.padEnd(8)} ${item}: ${changePhrase(change)}`);
    lines.push(shortened(text, width - 2));
  }
  const more = changeTotal(counts) - Math.min(worst.length, changesShown);
  return more > 0 ? [...lines, `${formatCount(more)} more; see repute diff`] : lines;
}

import { madeUpText } from "../../core/finding.js";
import { printable, wrapText } from "../../core/wording/printable.js";
import { counted, formatCount, formatPercent } from "../../core/wording/quantity.js";
import { defang, changeCounts, changePhrase, changeTotal } from "./phrases.js";
import {
  type CountList,
  countLists,
  headline,
  headlineDetail,
  kindName,
  outcomeNames,
  runFacts,
} from "./contents.js";
import { type Offender, outcomes, type Report, total } from "./report-tally.js";
import { madeUpOf } from "../../core/manifest.js";

/** Items and changes listed in text; the page has more. */
const mostShown = 10;

/** The report as text of at most `width` columns, with bars. */
export function reportText(report: Report, width: number): string {
  const wide = Math.max(40, Math.min(width, 100));
  const madeUp = madeUpOf(report.run ?? {});
  const verdicts = outcomes.map((outcome) => ({
    name: outcomeNames[outcome],
    count: report.outcomes[outcome],
  }));
  const kinds = report.kinds.map(({ kind, outcomes: counts }) => ({
    name: kindName(kind),
    count: total(counts),
  }));
  const reasons = report.reasons.map(({ count, status, name, meaning }) => ({
    count: formatCount(count),
    why: printable([status, meaning || name].filter((text) => text !== "").join(": ")),
  }));
  const numberWidth = Math.max(0, ...reasons.map(({ count }) => count.length));
  const sections: Readonly<Record<string, readonly string[]>> = {
    "What changed": changesLines(report, wide),
    Verdicts: report.rows === 0 ? [] : barLines(verdicts, wide, report.rows),
    Kinds: barLines(kinds, wide),
    ...Object.fromEntries(
      countLists(report).map(({ title, note, entries, more }) => [
        `${title} (${note.toLowerCase()})`,
        [...barLines(entries, wide), ...wrapped(more, wide - 2)],
      ]),
    ),
    "Worst items": offenderLines(report, wide),
    "Without a verdict": reasons.map(({ count, why }) => `${count.padStart(numberWidth)}  ${why}`),
    "The run": runFacts(report).map(({ name, value }) => `${name.padEnd(9)} ${printable(value)}`),
  };
  const parts = [
    wrapText(headline(report), wide),
    wrapText(headlineDetail(report), wide),
    madeUp === undefined ? "" : wrapText(`${madeUpText[madeUp].join(": ")}.`, wide),
    ...Object.entries(sections).map(([title, lines]) =>
      lines.length === 0
        ? ""
        : [wrapText(title, wide), ...lines.map((line) => `  ${shortened(line, wide - 2)}`)].join(
            "\n",
          ),
    ),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The lines of a sentence; none of an empty one. */
function wrapped(text: string, width: number): readonly string[] {
  return text === "" ? [] : wrapText(text, width).split("\n");
}

/** A line for each count: name, bar and number; with `whole` also the share. */
function barLines(list: Readonly<CountList["entries"]>, width: number, whole = 0): string[] {
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

function offenderLines({ offenders: { worst } }: Report, width: number): string[] {
  const indent = " ".repeat(12);
  const lines: string[] = [];
  for (const offender of worst.slice(0, mostShown)) {
    const item = defang(offender.item, offender.kind);
    lines.push(offender.verdict.padEnd(indent.length) + printable(item));
    lines.push(...about(offender).map((fact) => indent + printable(fact)));
  }
  if (worst.length <= mostShown) return lines;
  return [...lines, ...wrapped("more in the output, or on the page: -o REPORT.html", width - 4)];
}

function about({ tags, observations, network, abuseEmail, rows }: Offender): string[] {
  const facts = [
    ...tags,
    observations > 0 ? counted(observations, "observation") : "",
    rows > 1 ? counted(rows, "row") : "",
  ];
  return [facts, [network, abuseEmail]]
    .map((line) => line.filter((text) => text !== "").join(", "))
    .filter((line) => line !== "");
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}

function changesLines({ changes }: Report, width: number): readonly string[] {
  if (changes === null) return [];
  const { counts, worst, earlier } = changes;
  const since = wrapped(`${changeCounts(counts)} since ${printable(earlier)}`, width - 2);
  const lines = worst.slice(0, mostShown).map((change) => {
    const item = defang(change.item, change.kind);
    return printable(`${change.change.padEnd(8)} ${item}: ${changePhrase(change)}`);
  });
  const more = changeTotal(counts) - Math.min(worst.length, mostShown);
  const rest = more > 0 ? [`${formatCount(more)} more; see repute diff`] : [];
  return [...since, ...lines, ...rest];
}

import { printable } from "../core/printable.js";
import { formatCount, wrapText } from "../core/quantity.js";
import { defang } from "./defang.js";
import { changeCounts, changePhrase, changeTotal } from "./diff/change-lines.js";
import { shownValue } from "./history.js";
import type { Report, Series } from "./types.js";

/** Changes listed in text; the page has more. */
const changesShown = 10;

/** What changed since an earlier output, as lines. */
export function changesLines({ changes }: Report, width: number): readonly string[] {
  if (changes === null) return [];
  const { counts, worst, earlier } = changes;
  const lines = wrapText(`${changeCounts(counts)} since ${printable(earlier)}`, width - 2).split(
    "\n",
  );
  for (const change of worst.slice(0, changesShown)) {
    const item = defang(change.item, change.kind);
    const text = printable(`${change.change.padEnd(8)} ${item}: ${changePhrase(change)}`);
    lines.push(text.length > width - 2 ? `${text.slice(0, width - 3)}…` : text);
  }
  const more = changeTotal(counts) - Math.min(worst.length, changesShown);
  return more > 0 ? [...lines, `${formatCount(more)} more; see repute diff`] : lines;
}

/** The figures of the nights, as lines with a sparkline each. */
export function historyLines({ history }: Report, width: number): readonly string[] {
  if (history === null) return [];
  const names = Math.max(...history.map(({ name }) => name.length));
  const nights = Math.max(5, Math.min(30, width - names - 40));
  return history.map((series) => {
    const { name, values, usual, isOutlier } = series;
    const tonight = shownValue(series, values.at(-1) ?? 0).padStart(10);
    const median = usual === null ? "" : `  usually ${shownValue(series, usual)}`;
    return `${name.padEnd(names)}  ${sparkline(values.slice(-nights))} ${tonight}${median}${isOutlier ? "  unusual" : ""}`;
  });
}

const heights = "▁▂▃▄▅▆▇█";

function sparkline(values: Series["values"]): string {
  const most = Math.max(...values, 1);
  return values.map((value) => heights[Math.round((value / most) * (heights.length - 1))]).join("");
}

import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { formatCount } from "../../core/text/quantity.js";
import { fewestNights, shownValue } from "../history.js";
import type { Report, Series } from "../types.js";
import { html, type Html } from "./html.js";
import { noTitle, numberTitle, tableOf, title } from "./table.js";

/** One row per figure: a sparkline of the nights, tonight's value and the usual one. */
export function historyTable({ history }: Report): Html | null {
  if (history === null) return null;
  const nights = history[0]?.values.length ?? 0;
  const outliers = history.filter(({ isOutlier }) => isOutlier).map(({ name }) => name);
  const said =
    outliers.length === 0 ? "Nothing is unusual tonight." : `Unusual: ${outliers.join(", ")}.`;
  return html`${nights > fewestNights && html`<p>${said}</p>`}
    <p class="soft">
      ${nights === 1 ? "1 night" : `${formatCount(nights)} nights`}. Unusual means more than 3.5
      times the usual spread away from the median of the nights before, of which there must be
      ${fewestNights}.
    </p>
    ${tableOf(
      [title("Figure"), noTitle, numberTitle("Tonight"), numberTitle("Usual")],
      history.map(seriesRow),
    )}`;
}

function seriesRow(series: Series): Html {
  const { name, values, usual, isOutlier } = series;
  return html`<tr>
    <th scope="row">${name}${isOutlier && html` <strong class="verdict">unusual</strong>`}</th>
    <td class="chart">${sparkline(values)}</td>
    <td class="number">${shownValue(series, values.at(-1) ?? 0)}</td>
    <td class="number">${usual === null ? "" : shownValue(series, usual)}</td>
  </tr>`;
}

/** Scaled from zero to the highest value. */
function sparkline(values: readonly number[]): Html {
  const x = scaleLinear([0, Math.max(values.length - 1, 1)], [1, 99]);
  const y = scaleLinear([0, Math.max(...values, 1)], [19, 1]);
  const path = line<number>(
    (_, index) => x(index),
    (value) => y(value),
  )([...values]);
  return html`<svg
    class="bar spark"
    viewBox="0 0 100 20"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path d="${path}" vector-effect="non-scaling-stroke" />
  </svg>`;
}

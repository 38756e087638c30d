import { formatCount, formatPercent } from "../../../core/text/quantity.js";
import { changeCounts, changeTotal } from "../change-phrase.js";
import { kindName, moreText, outcomeNames } from "../headline.js";
import { outcomes, total } from "../report-tally.js";
import { runFacts } from "../run-facts.js";
import { bucketName, timelineOf } from "../timeline.js";
import type { Report, TopCounts } from "../types.js";
import { bar, outcomeBar, timelineChart } from "./charts.js";
import { changeTable } from "./diff-page.js";
import { html, type Html, noTitle, numberTitle, tableOf, title } from "./html.js";
import { offenderTable } from "./offender-table.js";

/** A part of the page with a heading; null when there is nothing to show in it. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: (report: Report) => Html | null;
}

/** The parts of the page, in their order; another one is an entry here. */
export const sections: readonly Section[] = [
  { id: "changes", title: "What changed", body: changes },
  { id: "kinds", title: "Verdicts by kind", body: kinds },
  { id: "tags", title: "Tags", body: tags },
  { id: "networks", title: "Networks and countries", body: networks },
  { id: "time", title: "First and last seen", body: time },
  { id: "offenders", title: "Worst items", body: offenderTable },
  { id: "unchecked", title: "Without a verdict", body: unchecked },
  { id: "excluded", title: "Not sent, as you asked", body: excluded },
  { id: "run", title: "The run", body: run },
];

function changes({ changes: found }: Report): Html | null {
  if (found === null) return null;
  const { earlier, counts, worst } = found;
  return html`<p>${changeCounts(counts)} since <bdi>${earlier}</bdi>.</p>
    ${worst.length > 0 && changeTable(worst, changeTotal(counts))}`;
}

export function tiles({ outcomes: counts, rows }: Report): Html {
  const list = outcomes.map(
    (outcome) =>
      html`<li>
        <strong>${formatCount(counts[outcome])}</strong
        ><span><span class="key ${outcome}"></span>${outcomeNames[outcome]}</span
        ><span>${formatPercent(counts[outcome], rows)}</span>
      </li>`,
  );
  return html`<ul class="tiles">
      ${list}
    </ul>
    ${rows > 0 && html`<div class="whole">${outcomeBar(counts)}</div>`}`;
}

function kinds({ kinds: list }: Report): Html | null {
  if (list.length === 0) return null;
  const heads = outcomes.map(
    (outcome) =>
      html`<th scope="col" class="number few">
        <span class="key ${outcome}"></span>${outcomeNames[outcome]}
      </th>`,
  );
  const rows = list.map(
    ({ kind, outcomes: counts }) =>
      html`<tr>
        <th scope="row">${kindName(kind)}</th>
        <td class="chart">${outcomeBar(counts)}</td>
        <td class="number">${formatCount(total(counts))}</td>
        ${outcomes.map((outcome) => html`<td class="${counts[outcome] === 0 ? "number few zero" : "number few"}">${formatCount(counts[outcome])}</td>`)}
      </tr>`,
  );
  return tableOf([title("Kind"), noTitle, numberTitle("Rows"), ...heads], rows, "kinds");
}

function tags({ tags: counts }: Report): Html | null {
  if (counts.entries.length === 0) return null;
  return html`<p class="soft">Rows that carry the tag.</p>
    ${countTable("Tag", counts)}`;
}

function networks({ networks: nets, countries }: Report): Html | null {
  if (nets.entries.length + countries.entries.length === 0) return null;
  return html`<p class="soft">
      Rows with a verdict against the item, by network and by the country of the network.
    </p>
    <div class="pair">
      <div>${countTable("Network", nets)}</div>
      <div>${countTable("Country", countries)}</div>
    </div>`;
}

function countTable(what: string, counts: TopCounts): Html {
  const { entries } = counts;
  const most = entries[0]?.count ?? 0;
  const rows = entries.map(
    ({ name, count }) =>
      html`<tr>
        <th scope="row"><bdi>${name}</bdi></th>
        <td class="chart">${bar(count, most)}</td>
        <td class="number">${formatCount(count)}</td>
      </tr>`,
  );
  const more = moreText(counts);
  return html`${tableOf([title(what), noTitle, numberTitle("Rows")], rows)}
  ${more !== "" && html`<p class="soft">${more}.</p>`}`;
}

function time(report: Report): Html | null {
  const timeline = timelineOf(report);
  if (timeline === null) return null;
  const { unit, buckets, earlier } = timeline;
  const rows = buckets.map(
    ({ start, firstSeen, lastSeen }) =>
      html`<tr>
        <th scope="row">${bucketName(unit, start)}</th>
        <td class="number">${formatCount(lastSeen)}</td>
        <td class="number">${formatCount(firstSeen)}</td>
      </tr>`,
  );
  return html`<p class="soft">
      Rows by the ${unit} in which the item was first and last
      seen${earlier > 0 && `; ${formatCount(earlier)} earlier times are not drawn`}.
    </p>
    <figure>${timelineChart(timeline)}</figure>
    <details>
      <summary>The same as numbers</summary>
      ${tableOf([title(unit), numberTitle("Last seen"), numberTitle("First seen")], rows)}
    </details>`;
}

function unchecked({ reasons }: Report): Html | null {
  if (reasons.length === 0) return null;
  const rows = reasons.map(
    ({ name, status, meaning, count }) =>
      html`<tr>
        <th scope="row">${status}</th>
        <td>${meaning === "" ? name : meaning} <code>${name}</code></td>
        <td class="number">${formatCount(count)}</td>
      </tr>`,
  );
  return tableOf([title("Status"), title("Why"), numberTitle("Rows")], rows);
}

function excluded({ run: facts }: Report): Html | null {
  const { exclusions = [] } = facts ?? {};
  if (exclusions.length === 0) return null;
  const rows = exclusions.map(
    (list) =>
      html`<tr>
        <th scope="row"><code>${list.path}</code></th>
        <td class="number">${formatCount(list.entries)}</td>
        <td class="number">${formatCount(list.rows)}</td>
      </tr>`,
  );
  return tableOf([title("Exclusion list"), numberTitle("Entries"), numberTitle("Rows")], rows);
}

function run(report: Report): Html {
  const facts = runFacts(report).map(
    ({ name, value, isCode }) =>
      html`<dt>${name}</dt>
        <dd>${isCode ? html`<code>${value}</code>` : value}</dd>`,
  );
  return html`<dl class="facts">${facts}</dl>`;
}

import { madeUpText } from "../../../core/finding.js";
import { headline, headlineDetail, kindName, moreText, outcomeNames } from "../headline.js";
import { formatCount, formatPercent } from "../../../core/wording/quantity.js";
import type { Report, TopCounts, OutcomeCounts } from "../types.js";
import { html, pageOf, type Html, noTitle, numberTitle, tableOf, title } from "./html.js";
import { changeCounts, changeTotal } from "../phrases.js";
import { outcomes, total } from "../report-tally.js";
import { madeUpOf } from "../../../core/manifest.js";
import { runInputs, runFacts } from "../run-facts.js";
import { bucketName, timelineOf, type Timeline } from "../timeline.js";
import { changeTable } from "./diff-page.js";
import { offenderTable } from "./offender-table.js";
import { scaleLinear } from "d3-scale";
import { area, curveStepAfter } from "d3-shape";

export function reportPage(report: Report): string {
  const madeUp = madeUpOf(report.run ?? {});
  const [first = report.output, ...others] = report.run === null ? [] : runInputs(report.run);
  const source = others.length === 0 ? first : `${formatCount(others.length + 1)} inputs`;
  const shown = sections.flatMap(({ id, title, body }) => {
    const content = body(report);
    return content === null ? [] : [{ id, title, content }];
  });
  const links = shown.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  const parts = shown.map(
    ({ id, title, content }) =>
      html`<section id="${id}" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${content}
      </section> `,
  );
  const body = html`<header>
      <p class="source">Reputation report for <bdi>${source}</bdi></p>
      <h1>${headline(report)}</h1>
      <p>${headlineDetail(report)}</p>
      ${madeUp !== undefined && html`<p class="invented"><strong>${madeUpText[madeUp][0]}.</strong> ${madeUpText[madeUp][1]}.</p>`}
      ${tiles(report)}
      ${
        links.length > 1 &&
        html`<nav aria-label="Sections">
          <ul>
            ${links}
          </ul>
        </nav>`
      }
    </header>
    <main>${parts}</main>
    <footer>
      Made by
      repute${report.run !== null && ` from a run of ${report.run.started_at?.slice(0, 10) ?? ""}`}.
      “Nothing known” is not a clean bill of health.
    </footer>`;
  return pageOf(`Reputation report: ${report.output}`, body);
}

/** A part of the page with a heading; null when there is nothing to show in it. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: (report: Report) => Html | null;
}

/** The parts of the page, in their order; another one is an entry here. */
const sections: readonly Section[] = [
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

function tiles({ outcomes: counts, rows }: Report): Html {
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

/** A bar of one colour; the number beside it says the same. */
function bar(value: number, most: number): Html {
  const width = scaleLinear([0, Math.max(most, 1)], [0, 100])(value);
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="plain" width="${round(width)}" height="10" />
  </svg>`;
}

/** A bar of all outcomes, as wide as the whole. */
function outcomeBar(counts: OutcomeCounts): Html {
  const scale = scaleLinear([0, Math.max(total(counts), 1)], [0, 100]);
  let from = 0;
  const parts = outcomes.map((outcome) => {
    const start = scale(from);
    from += counts[outcome];
    const width = scale(from) - start;
    return (
      width > 0 &&
      html`<rect class="${outcome}" x="${round(start)}" width="${round(width)}" height="10" />`
    );
  });
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg>`;
}

/** Where in the drawing each series stands, in pixels from its top. */
const panels = [
  { name: "Last seen", member: "lastSeen", top: 26 },
  { name: "First seen", member: "firstSeen", top: 136 },
] as const;
const panelHeight = 70;

/** First and last seen as two step charts above one axis. */
function timelineChart({ unit, buckets, ticks }: Timeline): Html {
  const x = scaleLinear([buckets[0]!.start, buckets.at(-1)!.end], [0, 100]);
  const most = Math.max(...buckets.flatMap(({ firstSeen, lastSeen }) => [firstSeen, lastSeen]));
  const y = scaleLinear([0, Math.max(most, 1)], [100, 0]);
  const series = panels.map(({ name, member, top }) => {
    const shape = area<{ readonly at: number; readonly count: number }>()
      .x(({ at }) => round(x(at)))
      .y0(100)
      .y1(({ count }) => round(y(count)))
      .curve(curveStepAfter);
    const points = buckets.map((bucket) => ({ at: bucket.start, count: bucket[member] }));
    const end = { at: buckets.at(-1)!.end, count: points.at(-1)!.count };
    const peak = points.reduce((a, b) => (b.count > a.count ? b : a));
    return html`<text class="series" y="${top - 10}">${name}</text>
      <text class="peak" x="100%" y="${top - 10}"
        >${peak.count > 0 && `most in ${bucketName(unit, peak.at)}: ${formatCount(peak.count)}`}</text
      >
      <svg
        y="${top}"
        height="${panelHeight}"
        width="100%"
        viewBox="0 0 100 100"
        preserveAspectRatio="none"
      >
        <path class="${member}" d="${shape([...points, end]) ?? ""}" />
      </svg>
      <line x1="0" x2="100%" y1="${top + panelHeight}" y2="${top + panelHeight}" />`;
  });
  const axisTop = panels[1].top + panelHeight;
  const marks = ticks.map(({ at, label }, index) => {
    const place = round(x(at));
    const anchor = place < 4 ? "start" : place > 96 ? "end" : "middle";
    return html`<g class="${index % 2 === 0 ? "tick" : "tick odd"}"
      ><line x1="${place}%" x2="${place}%" y1="${axisTop}" y2="${axisTop + 5}" /><text
        x="${place}%"
        y="${axisTop + 19}"
        text-anchor="${anchor}"
        >${label}</text
      ></g
    >`;
  });
  return html`<svg
    class="timeline"
    width="100%"
    height="${axisTop + 24}"
    role="img"
    aria-label="First and last seen by ${unit}; the table below has the numbers"
  >
    ${series}${marks}
  </svg>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

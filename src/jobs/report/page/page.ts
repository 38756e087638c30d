import { madeUpText } from "../../../core/finding.js";
import {
  headline,
  headlineDetail,
  kindName,
  moreText,
  outcomeNames,
  runFacts,
  runInputs,
} from "../headline.js";
import { counted, formatCount, formatPercent } from "../../../core/wording/quantity.js";
import { type Offender, outcomes, type Report, type TopCounts, total } from "../report-tally.js";
import { html, pageOf, type Html, tableOf } from "./html.js";
import { changeCounts, changeTotal, defangLinks } from "../phrases.js";
import { madeUpOf } from "../../../core/manifest.js";
import { type Timeline, timelineOf } from "../timeline.js";
import { changeTable, itemName, verdictName } from "./diff-page.js";
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
  { id: "offenders", title: "Worst items", body: offenders },
  { id: "unchecked", title: "Without a verdict", body: unchecked },
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
    ${rows > 0 && html`<div class="whole">${bar(counts, total(counts))}</div>`}`;
}

function kinds({ kinds: list }: Report): Html | null {
  if (list.length === 0) return null;
  const heads = outcomes.map(
    (outcome) => html`<span class="key ${outcome}"></span>${outcomeNames[outcome]}`,
  );
  const rows = list.map(({ kind, outcomes: counts }) => [
    kindName(kind),
    bar(counts, total(counts)),
    total(counts),
    ...outcomes.map((outcome) => counts[outcome] || html`<span class="soft">0</span>`),
  ]);
  const few = heads.map((head) => [head, "number few"] as const);
  return tableOf([["Kind"], ["", "chart"], ["Rows", "number"], ...few], rows, "kinds");
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
  const rows = entries.map(({ name, count }) => [
    html`<bdi>${name}</bdi>`,
    bar({ plain: count }, most),
    count,
  ]);
  const more = moreText(counts);
  return html`${tableOf([[what], ["", "chart"], ["Rows", "number"]], rows)}
  ${more !== "" && html`<p class="soft">${more}.</p>`}`;
}

function time(report: Report): Html | null {
  const timeline = timelineOf(report);
  if (timeline === null) return null;
  const { unit, buckets, earlier } = timeline;
  const heads = [[unit], ["Last seen", "number"], ["First seen", "number"]] as const;
  const rows = buckets.map(({ name, firstSeen, lastSeen }) => [name, lastSeen, firstSeen]);
  return html`<p class="soft">
      Rows by the ${unit} in which the item was first and last
      seen${earlier > 0 && `; ${formatCount(earlier)} earlier times are not drawn`}.
    </p>
    <figure>${timelineChart(timeline)}</figure>
    <details>
      <summary>The same as numbers</summary>
      ${tableOf(heads, rows)}
    </details>`;
}

function offenders({ offenders: { worst, items, itemsAreMore } }: Report): Html | null {
  if (worst.length === 0) return null;
  const all = `${itemsAreMore ? "more than " : ""}${formatCount(items)}`;
  const which =
    items > worst.length
      ? `The worst ${formatCount(worst.length)} of ${all} items with a verdict against them; the output has them all.`
      : `Every item with a verdict against it.`;
  const heads = [
    ["Item", "what"],
    ["Verdict", "verdict"],
    ["Observations", "number"],
    ["Tags"],
    ["Network and abuse contact"],
  ] as const;
  return html`<p class="soft">${which} Items are defanged.</p>
    ${tableOf(heads, worst.map(offenderCells), "items offenders")}`;
}

function offenderCells(offender: Offender) {
  const { kind, item, verdict, rows, observations, lastSeen, network, tags, own } = offender;
  const { abuseEmail, abuseStatus } = offender;
  const seen = [
    rows > 1 && `in ${counted(rows, "row")}`,
    lastSeen !== "" && `last seen ${lastSeen.slice(0, 10)}`,
  ].filter((text) => text !== false);
  const isOdd = abuseStatus !== "" && abuseStatus !== "WORKING";
  const note = isOdd && ` (${abuseStatus.toLowerCase().replaceAll("_", " ")})`;
  const cells = own.map(
    ([name, cell]) =>
      html`<div>
        <dt>${defangLinks(name)}</dt>
        <dd><bdi>${defangLinks(cell)}</bdi></dd>
      </div>`,
  );
  return [
    html`${itemName(item, kind)}${seen.length > 0 && html`<small>${seen.join(", ")}</small>`}${cells.length > 0 && html`<dl class="own">${cells}</dl>`}`,
    verdictName(verdict),
    html`${formatCount(observations)}<span class="unit">
        observation${observations !== 1 && "s"}</span
      >`,
    tags.map((tag) => html`<div><bdi>${tag}</bdi></div>`),
    html`${network !== "" && html`<div><bdi>${network}</bdi></div>`}${abuseEmail !== "" && html`<small><bdi>${abuseEmail}</bdi>${note}</small>`}`,
  ];
}

function unchecked({ reasons }: Report): Html | null {
  if (reasons.length === 0) return null;
  const rows = reasons.map(({ name, status, meaning, count }) => [
    status,
    html`${meaning === "" ? name : meaning} <code>${name}</code>`,
    count,
  ]);
  return tableOf([["Status"], ["Why"], ["Rows", "number"]], rows);
}

function run(report: Report): Html {
  const facts = runFacts(report).map(
    ({ name, value, isCode }) =>
      html`<dt>${name}</dt>
        <dd>${isCode ? html`<code>${value}</code>` : value}</dd>`,
  );
  return html`<dl class="facts">${facts}</dl>`;
}

/** A bar of a part for each count, in its colour; numbers beside it say the same. */
function bar(counts: Readonly<Record<string, number>>, whole: number): Html {
  let counted = 0;
  const parts = Object.entries(counts).map(([name, count]) => {
    const [start, width] = [counted, count].map((each) => round((100 * each) / whole));
    counted += count;
    return count > 0 && html`<rect class="${name}" x="${start!}" width="${width!}" height="10" />`;
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
function timelineChart({ unit, buckets, end, ticks }: Timeline): Html {
  const x = scaleLinear([buckets[0]!.start, end], [0, 100]);
  const most = Math.max(...buckets.flatMap(({ firstSeen, lastSeen }) => [firstSeen, lastSeen]));
  const y = scaleLinear([0, Math.max(most, 1)], [100, 0]);
  const series = panels.map(({ name, member, top }) => {
    const shape = area<Timeline["buckets"][number]>()
      .x(({ start }) => round(x(start)))
      .y0(100)
      .y1((bucket) => round(y(bucket[member])))
      .curve(curveStepAfter);
    const peak = buckets.reduce((a, b) => (b[member] > a[member] ? b : a));
    return html`<text class="series" y="${top - 10}">${name}</text>
      <text class="peak" x="100%" y="${top - 10}"
        >${peak[member] > 0 && `most in ${peak.name}: ${formatCount(peak[member])}`}</text
      >
      <svg
        y="${top}"
        height="${panelHeight}"
        width="100%"
        viewBox="0 0 100 100"
        preserveAspectRatio="none"
      >
        <path
          class="${member}"
          d="${shape([...buckets, { ...buckets.at(-1)!, start: end }]) ?? ""}"
        />
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

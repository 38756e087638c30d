import { formatCount } from "../../../core/wording/quantity.js";
import { type OutcomeCounts, outcomes, total } from "../report-tally.js";
import type { Timeline } from "../timeline.js";
import { html, type Html } from "./html.js";
import { scaleLinear } from "d3-scale";
import { area, curveStepAfter } from "d3-shape";

/** A bar of one colour; the number beside it says the same. */
export function bar(value: number, most: number): Html {
  const width = scaleLinear([0, Math.max(most, 1)], [0, 100])(value);
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="plain" width="${round(width)}" height="10" />
  </svg>`;
}

/** A bar of all outcomes, as wide as the whole. */
export function outcomeBar(counts: OutcomeCounts): Html {
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
export function timelineChart({ unit, buckets, end, ticks }: Timeline): Html {
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

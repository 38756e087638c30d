import { UsageError } from "../../../core/errors.js";
import { madeUpText, type Verdict } from "../../../core/finding.js";
import { madeUpOf } from "../../../core/manifest.js";
import { counted, formatCount, formatPercent } from "../../../core/wording/quantity.js";
import { csvPieces } from "../../../io/formats/csv/csv-output.js";
import { type Change, changeKinds, type OutputDiff } from "../../diff/diff-outputs.js";
import {
  countLists,
  type CountList,
  headline,
  headlineDetail,
  kindName,
  outcomeNames,
  runFacts,
  runInputs,
} from "../contents.js";
import {
  changeCounts,
  changePhrase,
  changeTotal,
  cutText,
  defang,
  defangLinks,
  graveCounts,
  newTags,
} from "../phrases.js";
import { type Offender, outcomes, type Report, total } from "../report-tally.js";
import { html, pageOf, type Html, tableOf } from "./html.js";

export function reportPage(report: Report): string {
  const madeUp = madeUpOf(report.run ?? {});
  const [first = report.output, ...others] = report.run === null ? [] : runInputs(report.run);
  const source = others.length === 0 ? first : `${formatCount(others.length + 1)} inputs`;
  const header = html`<p class="source">Reputation report for <bdi>${source}</bdi></p>
    <h1>${headline(report)}</h1>
    <p>${headlineDetail(report)}</p>
    ${madeUp !== undefined && html`<p class="invented"><strong>${madeUpText[madeUp][0]}.</strong> ${madeUpText[madeUp][1]}.</p>`}
    ${tiles(report)}`;
  const sections = [
    { id: "changes", title: "What changed", content: changes(report) },
    { id: "kinds", title: "Verdicts by kind", content: kinds(report) },
    ...countLists(report).map((list) => Object.assign({ content: counts(list) }, list)),
    { id: "offenders", title: "Worst items", content: offenders(report) },
    { id: "unchecked", title: "Without a verdict", content: unchecked(report) },
    { id: "run", title: "The run", content: run(report) },
  ];
  const footer = html`Made by
  repute${report.run !== null && ` from a run of ${report.run.started_at?.slice(0, 10) ?? ""}`}.
  “Nothing known” is not a clean bill of health.`;
  return pageOf(`Reputation report: ${report.output}`, header, sections, footer);
}

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

function counts({ what, note, entries, more }: CountList): Html {
  const most = Math.max(...entries.map(({ count }) => count));
  const rows = entries.map(({ name, count }) => [
    html`<bdi>${name}</bdi>`,
    bar({ plain: count }, most),
    count,
  ]);
  return html`<p class="soft">${note}.</p>
    ${tableOf([[what], ["", "chart"], ["Rows", "number"]], rows)}
    ${more !== "" && html`<p class="soft">${more}.</p>`}`;
}

function offenders({ offenders: { worst, areMore } }: Report): Html | null {
  if (worst.length === 0) return null;
  const which = areMore
    ? `The worst ${worst.length} of the malicious, suspicious and listed items; the output has them all.`
    : "Every malicious, suspicious and listed item.";
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
  const { kind, item, verdict, rows, observations, lastSeen, network, tags, own, abuseEmail } =
    offender;
  const seen = [
    rows > 1 && `in ${counted(rows, "row")}`,
    lastSeen !== "" && `last seen ${lastSeen.slice(0, 10)}`,
  ].filter((text) => text !== false);
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
    html`${network !== "" && html`<div><bdi>${network}</bdi></div>`}${abuseEmail !== "" && html`<small><bdi>${abuseEmail}</bdi></small>`}`,
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
    ({ name, value }) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  );
  return html`<dl class="facts">${facts}</dl>`;
}

/** A bar of a part for each count, in its colour; numbers beside it say the same. */
function bar(counts: Readonly<Record<string, number>>, whole: number): Html {
  let counted = 0;
  const parts = Object.entries(counts).map(([name, count]) => {
    const [start, width] = [counted, count].map(
      (each) => Math.round((10_000 * each) / whole) / 100,
    );
    counted += count;
    return count > 0 && html`<rect class="${name}" x="${start!}" width="${width!}" height="10" />`;
  });
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg>`;
}

type DiffNames = Readonly<Record<"earlier" | "later", string>>;

/** Changes listed on the page; the CSV and NDJSON files have all of them. */
const mostListed = 2_000;

function diffPage({ counts, worst }: OutputDiff, { earlier, later }: DiffNames): string {
  const total = changeTotal(counts);
  const listed = worst(mostListed);
  const grave = graveCounts(counts);
  const nothing = total === 0 ? "Nothing changed." : "Nothing got worse.";
  const heading = grave.length === 0 ? nothing : `${grave.join(", ")}.`;
  const tiles = changeKinds.map(
    (kind) => html`<li><strong>${formatCount(counts[kind])}</strong><span>${kind}</span></li>`,
  );
  const header = html`<p class="source"><bdi>${earlier}</bdi> → <bdi>${later}</bdi></p>
    <h1>${heading}</h1>
    <ul class="tiles five">
      ${tiles}
    </ul>
    <p class="soft">
      ${counted(counts.same, "item")} ${counts.same === 1 ? "is" : "are"} the
      same${counts.unanswered > 0 && `; ${formatCount(counts.unanswered)} ${counts.unanswered === 1 ? "is" : "are"} unknown on one side`}.
    </p>`;
  const content = listed.length > 0 ? changeTable(listed, total) : null;
  const sections = [{ id: "changes", title: "Changes", content }];
  const footer = html`Made by repute. “None” means that nothing is known, not that an item is safe.`;
  return pageOf(`Changes from ${earlier} to ${later}`, header, sections, footer);
}

/** A table of changes, and how many there are in all. */
function changeTable(changes: readonly Change[], total: number): Html {
  const which =
    total > changes.length
      ? `The worst ${formatCount(changes.length)} of ${formatCount(total)} changes.`
      : "Every change, worst first.";
  const heads = [["Item", "what"], ["Change"], ["Verdict", "verdict"], ["Difference"]] as const;
  return html`<p class="soft">${which} Items are defanged.</p>
    ${tableOf(heads, changes.map(changeCells), "items changes")}`;
}

function changeCells(change: Change) {
  const { kind, item, earlier, later } = change;
  const verdict = (later ?? earlier)?.verdict ?? null;
  // The verdict of a new item, or of one that is gone, is in the column before.
  const difference = earlier === null ? later && newTags(later) : later && changePhrase(change);
  const named = verdict === null ? "unknown" : verdictName(verdict);
  return [itemName(item, kind), change.change, named, html`<bdi>${difference ?? ""}</bdi>`];
}

function itemName(item: string, kind: string): Html {
  return html`<bdi class="item">${cutText(defang(item, kind), longestItem)}</bdi>`;
}

const longestItem = 200;

function verdictName(verdict: Verdict): Html {
  return html`<span class="key ${verdict}"></span>${verdict}`;
}

const diffFormats = ["csv", "ndjson", "html"] as const;

type DiffFormat = (typeof diffFormats)[number];

export function diffFormatOf(path: string): DiffFormat {
  const format = diffFormats.find((known) => path.toLowerCase().endsWith(`.${known}`));
  if (format !== undefined) return format;
  throw new UsageError("unknown_output", `diff cannot write ${path}`, {
    hint: `name a file that ends in .${diffFormats.join(", .")}`,
  });
}

/** Every change in a format, worst first, piece by piece. */
export function diffLines(
  format: DiffFormat,
  diff: OutputDiff,
  names: DiffNames,
): Iterable<string> {
  if (format === "csv") return csvPieces(",", csvRecords(diff.changes()));
  return format === "ndjson" ? ndjsonLines(diff.changes()) : [diffPage(diff, names)];
}

const sides = ["earlier", "later"] as const;

const fields = ["verdict", "tags", "asn", "as_name", "abuse_email"] as const;

/** Changes as CSV: a header, then one record each. */
function* csvRecords(changes: Iterable<Change>): Generator<readonly string[]> {
  const names = fields.flatMap((field) => sides.map((side) => `${side}_${field}`));
  yield ["change", "kind", "item", "what", ...names];
  for (const { change, kind, item, what, ...observed } of changes) {
    const values = fields.flatMap((field) => sides.map((side) => observed[side]?.[field] ?? ""));
    const texts = values.map((value) => (typeof value === "string" ? value : value.join("|")));
    yield [change, kind, item, what.join("|"), ...texts];
  }
}

/** Changes as NDJSON: one object each, `null` for what is unknown or not there. */
function* ndjsonLines(changes: Iterable<Change>): Generator<string> {
  for (const change of changes) {
    yield `${JSON.stringify(change, (_, value: unknown) => (value === "" ? null : value))}\n`;
  }
}

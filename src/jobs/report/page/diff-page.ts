import { csvPieces } from "../../../io/formats/csv/csv-output.js";
import { counted, formatCount } from "../../../core/wording/quantity.js";
import { changePhrase, changeTotal, cutText, defang, graveCounts, newTags } from "../phrases.js";
import { type Change, changeKinds, type OutputDiff } from "../../diff/diff-outputs.js";
import { html, type Html, pageOf, tableOf } from "./html.js";
import type { Verdict } from "../../../core/finding.js";
import { UsageError } from "../../../core/errors.js";

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
  const body = html`<header>
      <p class="source"><bdi>${earlier}</bdi> → <bdi>${later}</bdi></p>
      <h1>${heading}</h1>
      <ul class="tiles five">
        ${tiles}
      </ul>
      <p class="soft">
        ${counted(counts.same, "item")} ${counts.same === 1 ? "is" : "are"} the
        same${counts.unanswered > 0 && `; ${formatCount(counts.unanswered)} ${counts.unanswered === 1 ? "is" : "are"} unknown on one side`}.
      </p>
    </header>
    <main>
      ${
        listed.length > 0 &&
        html`<section id="changes" aria-labelledby="changes-title">
          <h2 id="changes-title">Changes</h2>
          ${changeTable(listed, total)}
        </section>`
      }
    </main>
    <footer>Made by repute. “None” means that nothing is known, not that an item is safe.</footer>`;
  return pageOf(`Changes from ${earlier} to ${later}`, body);
}

/** A table of changes, and how many there are in all. */
export function changeTable(changes: readonly Change[], total: number): Html {
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

export function itemName(item: string, kind: string): Html {
  return html`<bdi class="item">${cutText(defang(item, kind), longestItem)}</bdi>`;
}

const longestItem = 200;

export function verdictName(verdict: Verdict): Html {
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

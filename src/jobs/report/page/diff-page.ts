import { csvPieces } from "../../../io/formats/csv/csv-writer.js";
import { joinedEntries } from "../../../io/formats/column-types.js";
import { counted, formatCount } from "../../../core/wording/quantity.js";
import { changePhrase, changeTotal, graveCounts, newTags } from "../phrases.js";
import {
  type Observation,
  type Change,
  changeKinds,
  type OutputDiff,
} from "../../diff/diff-outputs.js";
import { html, type Html, pageOf, tableOf, title } from "./html.js";
import { itemName } from "./offender-table.js";
import { UsageError } from "../../../core/errors.js";

type DiffNames = Readonly<Record<"earlier" | "later", string>>;

/** Changes listed on the page; the CSV and NDJSON files have all of them. */
const mostListed = 2_000;

function diffPage({ counts, changes }: OutputDiff, { earlier, later }: DiffNames): string {
  const total = changeTotal(counts);
  const listed: Change[] = [];
  for (const change of changes()) {
    if (listed.length === mostListed) break;
    listed.push(change);
  }
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
  return html`<p class="soft">${which} Items are defanged.</p>
    ${tableOf(["Item", "Change", "Verdict", "Difference"].map(title), changes.map(changeRow), "items changes")}`;
}

function changeRow(change: Change): Html {
  const { kind, item, earlier, later } = change;
  const verdict = (later ?? earlier)?.verdict ?? null;
  // The verdict of a new item, or of one that is gone, is in the column before.
  const difference = earlier === null ? later && newTags(later) : later && changePhrase(change);
  return html`<tr>
    <th scope="row" class="what">${itemName(item, kind)}</th>
    <td>${change.change}</td>
    <td class="verdict">
      ${verdict === null ? "unknown" : html`<span class="key ${verdict}"></span>${verdict}`}
    </td>
    <td><bdi>${difference ?? ""}</bdi></td>
  </tr>`;
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

const fields = {
  verdict: ({ verdict }: Observation) => verdict ?? "",
  tags: ({ tags }: Observation) => tags ?? "",
  asn: ({ asn }: Observation) => asn ?? "",
  as_name: ({ asName }: Observation) => asName ?? "",
  abuse_email: ({ abuseEmail }: Observation) => abuseEmail ?? "",
} as const;

/** Changes as CSV: a header, then one record each. */
function* csvRecords(changes: Iterable<Change>): Generator<readonly string[]> {
  const names = Object.keys(fields).flatMap((field) => sides.map((side) => `${side}_${field}`));
  yield ["change", "kind", "item", "what", ...names];
  for (const { change, kind, item, what, ...observed } of changes) {
    const values = Object.values(fields).flatMap((valueOf) =>
      sides.map((side) => (observed[side] === null ? "" : valueOf(observed[side]))),
    );
    yield [change, kind, item, what.join("|"), ...values];
  }
}

/** Changes as NDJSON: one object each, `null` for the side that lacks the item. */
function* ndjsonLines(changes: Iterable<Change>): Generator<string> {
  for (const { earlier, later, ...change } of changes) {
    yield `${JSON.stringify({ ...change, earlier: memberOf(earlier), later: memberOf(later) })}\n`;
  }
}

function memberOf(observation: Observation | null): object | null {
  if (observation === null) return null;
  const { verdict, tags, asn, asName, abuseEmail } = observation;
  return {
    verdict,
    tags: tags === null ? null : joinedEntries(tags),
    asn: asn || null,
    as_name: asName || null,
    abuse_email: abuseEmail || null,
  };
}

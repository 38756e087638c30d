import { counted, formatCount } from "../../../core/wording/quantity.js";
import { cutText, defang, defangLinks } from "../phrases.js";
import type { Offender, Report } from "../types.js";
import { html, type Html, numberTitle, tableOf, title } from "./html.js";

export function offenderTable({ offenders: { worst, items, itemsAreMore } }: Report): Html | null {
  if (worst.length === 0) return null;
  const all = `${itemsAreMore ? "more than " : ""}${formatCount(items)}`;
  const which =
    items > worst.length
      ? `The worst ${formatCount(worst.length)} of ${all} items with a verdict against them; the output has them all.`
      : `Every item with a verdict against it.`;
  return html`<p class="soft">${which} Items are defanged.</p>
    ${tableOf(heads, worst.map(offenderRow), "items offenders")}`;
}

const heads = [
  title("Item"),
  title("Verdict"),
  numberTitle("Observations"),
  title("Tags"),
  title("Network and abuse contact"),
];

function offenderRow(offender: Offender): Html {
  const {
    kind,
    item,
    verdict,
    rows,
    observations,
    lastSeen,
    network,
    abuseEmail,
    abuseStatus,
    own,
  } = offender;
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
  return html`<tr>
    <th scope="row" class="what">
      ${itemName(item, kind)}${seen.length > 0 && html`<small>${seen.join(", ")}</small>`}${cells.length > 0 && html`<dl class="own">${cells}</dl>`}
    </th>
    <td class="verdict"><span class="key ${verdict}"></span>${verdict}</td>
    <td class="number">
      ${formatCount(observations)}<span class="unit"> observation${observations !== 1 && "s"}</span>
    </td>
    <td class="${offender.tags.length === 0 ? "blank" : ""}">
      ${offender.tags.map((tag) => html`<div><bdi>${tag}</bdi></div>`)}
    </td>
    <td class="${network + abuseEmail === "" ? "blank" : ""}">
      ${network !== "" && html`<div><bdi>${network}</bdi></div>`}${abuseEmail !== "" && html`<small><bdi>${abuseEmail}</bdi>${note}</small>`}
    </td>
  </tr>`;
}

export function itemName(item: string, kind: string): Html {
  return html`<bdi class="item">${cutText(defang(item, kind), longestItem)}</bdi>`;
}

const longestItem = 200;

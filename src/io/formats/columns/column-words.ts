import { parseKindName } from "../../../core/item/item.js";
import type { RatedColumn } from "../types.js";
import { strip } from "../../../core/item/refang.js";

/** Customary names of item columns. The first one that holds indicators is used. */
export const customaryItemColumns = ["item", "indicator", "ioc", "value", "data"];

export function isUsualName(name: string): boolean {
  return customaryItemColumns.includes(strip(name).toLowerCase());
}

/** Whether a text names an item column or a kind: `ip` above addresses is a header. */
export function isColumnName(text: string): boolean {
  return customaryItemColumns.includes(text.toLowerCase()) || parseKindName(text) !== null;
}

/**
 * Whether a column cites where something was published: `reference`, `source`, or such a name with a
 * prefix or suffix (`urlhaus_link`, `threat.indicator.reference`). What follows decides: `source_ip`
 * and `report_indicator` hold items.
 *
 * @param name a column, or a dotted path
 */
export function isCitation(name: string): boolean {
  const steps = name.replaceAll(/\[\]|\.\d+(?=\.|$)/g, "").split(".");
  const last = wordsOf(steps.at(-1)!);
  // `references.url` is the address of a reference, `source.ip` an address.
  const parent = last.every((word) => ofPage.has(word)) ? wordsOf(steps.at(-2) ?? "") : [];
  const words = [...parent, ...last];
  const first = words.findIndex((word) => citations.has(word));
  if (first < 0 || namesItem(last.join(""))) return false;
  return !words.slice(first + 1).some((word) => namesItem(word));
}

/** Whether a column has something to look up. The pages that a citation names are not. */
export function isAsked({ name, sample }: RatedColumn): boolean {
  return sample.queryable > 0 && !(sample.kind === "url" && isCitation(name));
}

/** Whether a column is prose, whose URLs are pages to read on: `Note`, `description`. */
export function isNote(name: string): boolean {
  return wordsOf(name.slice(name.lastIndexOf(".") + 1)).some((word) => notes.has(word));
}

/** Whether a column holds names of files, by its name: `filename`, `Attachment`. */
export function isOfFiles(name: string): boolean {
  return wordsOf(name.slice(name.lastIndexOf(".") + 1)).some((word) => files.has(word));
}

/** Whether a word names an item column, or a kind other than URLs, which citations are. */
function namesItem(word: string): boolean {
  return customaryItemColumns.includes(word) || !["url", null].includes(parseKindName(word));
}

function wordsOf(step: string): readonly string[] {
  return step
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}

const citations: ReadonlySet<string> = new Set(
  (
    "reference references ref refs citation citations source sources link links permalink permalinks " +
    "report reports article articles blog blogs blogpost advisory advisories"
  ).split(" "),
);

const ofPage: ReadonlySet<string> = new Set("url urls uri href link name title".split(" "));

const notes: ReadonlySet<string> = new Set(
  "note notes comment comments remark remarks description descriptions details info".split(" "),
);

const files: ReadonlySet<string> = new Set(
  "file files filename filenames filepath path paths attachment attachments script scripts".split(
    " ",
  ),
);

import { columns } from "../../../core/columns.js";
import { type Finding, nestedFacts, nestedText } from "../../../core/finding.js";
import type { Item } from "../../../core/item/item.js";
import { itemRow } from "../../../core/row.js";

/** One argument of `query` or `quick-check`, and its finding. */
export interface AnsweredItem {
  /** The argument as given. */
  readonly text: string;
  /** Null if the text is not a supported item. */
  readonly item: Item | null;
  readonly finding: Finding;
}

/**
 * The finding as one line of JSON, with the members of nested output. An unsupported argument is its
 * own `item`, so that its line can be recognised.
 */
export function answerLine({ text, item, finding }: AnsweredItem): string {
  return nestedText({ ...nestedFacts(item, finding), item: item?.value ?? text }, finding);
}

/**
 * The value of a column (without prefix) as text. A flag shows only where it is set: few addresses are
 * bogons, and empty columns are dropped.
 */
export function answerCell({ text, item, finding }: AnsweredItem, name: string): string {
  if (name === "item") return item?.value ?? text;
  const row = itemRow(text, { number: 1, line: 1, end: 0 });
  const value = columns.find((column) => column.name === name)?.value({ row, item, finding });
  if (value === undefined || value === null || value === false) return "";
  if (value === true) return "yes";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

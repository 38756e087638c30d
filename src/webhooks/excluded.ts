import type { ExclusionList } from "../core/exclusions/exclusion-list.js";
import { recogniseItem } from "../core/item/recognise.js";
import { contextValues } from "./fields.js";
import { childPointer, errorAt, type Problem } from "./problem.js";

/** Maximum number of values to look at: a payload beyond is not sent with exclusions. */
const mostValues = 100_000;

/** The values of a payload that exclusion lists name, each an item of its own. */
export function excludedValues(payload: unknown, lists: readonly ExclusionList[]): Problem[] {
  if (lists.length === 0) return [];
  const problems: Problem[] = [];
  for (const { path, value } of contextValues({ path: [], value: { payload } }, mostValues)) {
    const item = typeof value === "string" ? recogniseItem(value).item : null;
    const list = item && lists.find((each) => each.has(item));
    if (!list) continue;
    const message = `the value is on the exclusion list ${list.path}; nothing was sent`;
    problems.push(errorAt(path.reduce<string>(childPointer, ""), "excluded", message));
  }
  return problems;
}

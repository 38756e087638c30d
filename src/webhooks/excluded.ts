import type { ExclusionList } from "../core/exclusions/exclusion-list.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import { contextValues } from "./fields.js";
import { childPointer, errorAt, type Problem } from "./problem.js";

/** Maximum number of values that are compared with the lists. A larger payload is refused. */
const mostValues = 100_000;

/** The values of a payload that hold, or whose member's name holds, what is on an exclusion list. */
export function excludedValues(payload: unknown, lists: readonly ExclusionList[]): Problem[] {
  if (lists.length === 0) return [];
  const problems: Problem[] = [];
  let values = 0;
  for (const { path, value } of contextValues({ path: [], value: { payload } }, mostValues + 1)) {
    values++;
    const texts = [path.length > 1 ? path.at(-1) : null, value].filter(
      (text) => typeof text === "string",
    );
    const list = texts.map((text) => listOfText(text, lists)).find((found) => found !== undefined);
    if (list === undefined) continue;
    const message = `something in it is on the exclusion list ${list.path}; nothing was sent`;
    problems.push(errorAt(path.reduce<string>(childPointer, ""), "excluded", message));
  }
  if (values <= mostValues) return problems;
  const message = `with more than ${mostValues} values, it cannot be checked against the exclusion lists; nothing was sent`;
  return [...problems, errorAt("/payload", "too_large", message)];
}

/** The list that a text, or a word in it, is on. */
function listOfText(text: string, lists: readonly ExclusionList[]): ExclusionList | undefined {
  const words = text.split(betweenWords);
  const labelled = words.map((word) => word.slice(word.indexOf(":") + 1));
  for (const word of new Set([text, ...words, ...labelled])) {
    // A bare name within a text may be any word.
    if (word !== text && !/[.:@]|[\dA-Fa-f]{32}/.test(word)) continue;
    const item = asItem(word.replace(/[.!?]+$|(?<!:):$/, ""));
    const list = item && lists.find((each) => each.has(item));
    if (list) return list;
  }
  return undefined;
}

const betweenWords = /[\s"'`<>()[\]{}|=,;]+/u;

/** A word as an item. Hosts of the inner network are none elsewhere, but may be on a list. */
function asItem(word: string): Item | null {
  const { item } = recogniseItem(word);
  if (item !== null) return item;
  const url = word.includes("://") && URL.canParse(word) ? new URL(word) : null;
  if (url !== null) return { kind: "url", value: `http://${url.hostname}/` };
  const value = word.toLowerCase();
  if (/^[^@]+@[\w.-]+$/.test(word)) return { kind: "email", value };
  return /^[\w.-]+$/.test(word) ? { kind: "domain", value } : null;
}

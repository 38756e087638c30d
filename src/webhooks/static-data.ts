import { contextValues, resolverDataPath } from "./fields.js";
import { formatPath, readField } from "./pql.js";

/** A value of the subscriber's data by which static text can be told. */
export interface SubscriberValue {
  /** Fields that hold this value, as they stand in a payload. */
  readonly fields: readonly string[];
  /** The value as text, lower case. */
  readonly text: string;
}

/**
 * Texts and numbers of the subscriber's data, longest first. Left out is what would be found
 * anywhere: fewer than three characters, booleans, words such as `none`.
 */
export function subscriberValues(context: unknown): readonly SubscriberValue[] {
  const data = readField(context, resolverDataPath);
  if (!data) return [];
  const fieldsOf = new Map<string, string[]>();
  for (const { path, value } of contextValues(
    { path: resolverDataPath, value: data.value },
    mostValues,
  )) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const text = String(value).trim().toLowerCase();
    if (text.length < 3 || text.length > longestValue || plainWords.has(text)) continue;
    const fields = fieldsOf.get(text);
    if (fields) fields.push(formatPath(path));
    else fieldsOf.set(text, [formatPath(path)]);
  }
  return [...fieldsOf]
    .map(([text, fields]) => ({ text, fields }))
    .sort((a, b) => b.text.length - a.text.length);
}

/**
 * The subscriber's values that a static text holds, as a whole or as words within it. A value
 * inside a longer one that was found (the name in the address) does not count again.
 */
export function findSubscriberValues(
  text: string,
  values: readonly SubscriberValue[],
): readonly SubscriberValue[] {
  let left = text.toLowerCase();
  const found: SubscriberValue[] = [];
  for (const value of values) {
    const rest = withoutWord(left, value.text);
    if (rest !== left) found.push(value);
    left = rest;
  }
  return found;
}

const mostValues = 5000;
const longestValue = 1000;
const plainWords: ReadonlySet<string> = new Set([
  "true",
  "false",
  "null",
  "none",
  "unknown",
  "yes",
  "n/a",
]);

/** Replaces the word wherever it stands by itself with a character that no value holds. */
function withoutWord(text: string, word: string): string {
  let rest = "";
  let done = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at < done || joins(text[at - 1]) || joins(text[at + word.length])) continue;
    rest += `${text.slice(done, at)}\u0000`;
    done = at + word.length;
  }
  return done === 0 ? text : rest + text.slice(done);
}

function joins(neighbour: string | undefined): boolean {
  return neighbour !== undefined && /[\p{L}\p{N}]/u.test(neighbour);
}

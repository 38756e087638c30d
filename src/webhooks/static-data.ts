import { contextValues, resolverDataPath } from "./fields.js";
import { formatPath, readField } from "./pql.js";

/** A value of the subscriber data to search for in static text. */
export interface SubscriberValue {
  /** Fields with this value, as written in a payload. */
  readonly fields: readonly string[];
  /** The value as lower-case text. */
  readonly text: string;
}

/**
 * Strings and numbers of the subscriber data, longest first. Omits values that occur everywhere:
 * shorter than three characters, booleans, words such as `none`.
 */
export function subscriberValues(context: unknown): readonly SubscriberValue[] {
  const data = readField(context, resolverDataPath);
  if (!data) return [];
  const fieldsOf = new Map<string, string[]>();
  for (const { path, value } of contextValues(
    { path: resolverDataPath, value: data.value },
    maxValues,
  )) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const text = String(value).trim().toLowerCase();
    if (text.length < 3 || text.length > maxValueLength || plainWords.has(text)) continue;
    const fields = fieldsOf.get(text);
    if (fields) fields.push(formatPath(path));
    else fieldsOf.set(text, [formatPath(path)]);
  }
  return [...fieldsOf]
    .map(([text, fields]) => ({ text, fields }))
    .sort((a, b) => b.text.length - a.text.length);
}

/**
 * Subscriber values found in a static text as whole words. A value within a longer match (the name
 * in the e-mail address) does not count again.
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

const maxValues = 5000;
const maxValueLength = 1000;
const plainWords: ReadonlySet<string> = new Set([
  "true",
  "false",
  "null",
  "none",
  "unknown",
  "yes",
  "n/a",
]);

/** Replaces whole-word matches with a character that occurs in no value. */
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

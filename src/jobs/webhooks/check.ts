import type { JsonObject } from "../../core/finding.js";
import { addressProblems, type Webhook } from "./configuration.js";
import {
  parsePql,
  formatPath,
  readField,
  malformedFields,
  renderCollecting,
  contextValues,
  resolverDataPath,
} from "./render.js";
import { childPointer, type Problem, warningAt } from "./problem.js";

/**
 * Checks a webhook without sending it. Neither calls nor throws.
 *
 * With a case context, reports fields missing from it as errors, and warns about subscriber data
 * that the payload or the address contains as static text.
 *
 * @returns errors first; empty if there are none
 */
export function checkWebhook(webhook: Webhook, context?: JsonObject): readonly Problem[] {
  const problems: Problem[] = addressProblems(webhook);
  if (context) problems.push(...renderCollecting(webhook.payload, context).problems);
  const values = context ? subscriberValues(context) : [];
  problems.push(...staticAddress(webhook, values));
  const { payload } = webhook;
  for (const { path, value } of contextValues({ path: [], value: { payload } }, maxValues)) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const pointer = path.reduce<string>(childPointer, "");
    const parsed = parsePql(String(value));
    // With a context, rendering has reported these.
    if (context === undefined) problems.push(...malformedFields(parsed, pointer));
    const statics = parsed.parts.filter((part) => typeof part === "string").join("\u0000");
    for (const { fields } of findSubscriberValues(statics, values)) {
      problems.push(staticData(pointer, `write ${alternatives(fields)} instead`));
    }
  }
  const errors = problems.filter((problem) => problem.level === "error");
  return [...errors, ...problems.filter((problem) => problem.level === "warning")];
}

/** Warns about values in an address, where fields cannot replace them. */
function staticAddress(webhook: Webhook, values: readonly SubscriberValue[]): Problem[] {
  if (values.length === 0) return [];
  const url = URL.canParse(webhook.endpoint) ? new URL(webhook.endpoint) : null;
  return [
    { pointer: "/endpoint", text: url ? url.pathname + url.search : "" },
    { pointer: "/path", text: webhook.path ?? "" },
  ].flatMap(({ pointer, text }) =>
    findSubscriberValues(decoded(text), values).map(({ fields }) =>
      staticData(
        pointer,
        `the address is the same for every case, so send it in the payload as ${alternatives(fields)}`,
      ),
    ),
  );
}

function staticData(pointer: string, advice: string): Problem {
  const message = `this static text contains subscriber data, which is right for one case only; ${advice}`;
  return warningAt(pointer, "static_data", message);
}

function alternatives(fields: readonly string[]): string {
  return fields
    .slice(0, 3)
    .map((field) => `{{ ${field} }}`)
    .join(" or ");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface SubscriberValue {
  /** Fields with this value, as written in a payload. */
  readonly fields: readonly string[];
  readonly text: string;
}

/**
 * Strings and numbers of the subscriber data, longest first. Omits values that occur everywhere:
 * shorter than three characters, booleans, words such as `none`.
 */
function subscriberValues(context: unknown): readonly SubscriberValue[] {
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
function findSubscriberValues(
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

/** Replaces whole words with a character that no value contains. */
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

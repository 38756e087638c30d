import type { JsonObject } from "../../core/finding.js";
import { addressProblems, type Webhook } from "./configuration.js";
import {
  parsePql,
  formatPath,
  readField,
  malformedFields,
  pointerOf,
  type Problem,
  renderCollecting,
  resolverDataPath,
  valuesIn,
  warningAt,
} from "./render.js";

/**
 * Checks a webhook without sending it. Neither calls nor throws.
 *
 * With a case context, reports fields missing from it as errors, and warns about subscriber data
 * that the payload or the address contains as static text.
 *
 * @returns errors first; empty if there are none
 */
export function checkWebhook(webhook: Webhook, context?: JsonObject): readonly Problem[] {
  const { payload, path = "", endpoint } = webhook;
  const problems: Problem[] = addressProblems(webhook);
  if (context) problems.push(...renderCollecting(payload, context).problems);
  const values = context ? subscriberValues(context) : [];
  const warn = (pointer: string, text: string, advice: (fields: string) => string): void => {
    for (const fields of subscriberDataIn(text, values)) {
      const message = `this static text contains subscriber data, which is right for one case only; ${advice(fields)}`;
      problems.push(warningAt(pointer, "static_data", message));
    }
  };
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  const address = { "/endpoint": url ? url.pathname + url.search : "", "/path": path };
  for (const [pointer, text] of Object.entries(address)) {
    const advice = "the address is the same for every case, so send it in the payload as";
    warn(pointer, decoded(text), (fields) => `${advice} ${fields}`);
  }
  for (const { path, value } of valuesIn(payload, ["payload"], maxValues)) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const pointer = pointerOf(path);
    const parsed = parsePql(String(value));
    // With a context, rendering has reported these.
    if (context === undefined) problems.push(...malformedFields(parsed, pointer));
    const statics = parsed.parts.filter((part) => typeof part === "string").join("\u0000");
    warn(pointer, statics, (fields) => `write ${fields} instead`);
  }
  return problems.sort((a, b) => Number(a.level === "warning") - Number(b.level === "warning"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const maxValues = 5000;
const maxValueLength = 1000;
const plainWord = /^(?:true|false|null|none|unknown|yes|n\/a)$/;

/** A value of the subscriber data in lower case, and the fields with this value. */
type SubscriberValue = readonly [text: string, fields: readonly string[]];

/**
 * Strings and numbers of the subscriber data, longest first. Omits values that occur everywhere:
 * shorter than three characters, booleans, words such as `none`.
 */
function subscriberValues(context: unknown): readonly SubscriberValue[] {
  const data = readField(context, resolverDataPath);
  const fieldsOf = new Map<string, string[]>();
  for (const { path, value } of valuesIn(data?.value, resolverDataPath, maxValues)) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const text = String(value).trim().toLowerCase();
    if (text.length < 3 || text.length > maxValueLength || plainWord.test(text)) continue;
    fieldsOf.set(text, [...(fieldsOf.get(text) ?? []), `{{ ${formatPath(path)} }}`]);
  }
  return [...fieldsOf].sort(([a], [b]) => b.length - a.length);
}

/**
 * Fields to use instead of the subscriber values that a static text has as whole words. A value within
 * a longer match (the name in the e-mail address) does not count again.
 */
function subscriberDataIn(text: string, values: readonly SubscriberValue[]): readonly string[] {
  let left = text.toLowerCase();
  return values.flatMap(([value, fields]) => {
    if (!left.includes(value)) return [];
    const literal = value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    const word = new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, "gu");
    const rest = left.replaceAll(word, "\u0000");
    const isThere = rest !== left;
    left = rest;
    return isThere ? [fields.slice(0, 3).join(" or ")] : [];
  });
}

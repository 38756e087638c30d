import type { JsonObject } from "./finding.js";

/** Deepest nesting that is read. The interface has 7 levels; a deeper one would overflow the stack of code that walks it. */
const maxDepth = 1000;

/** Matches every spelling of `__proto__` in JSON text, escapes included, and little else. */
const protoMember = /(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)/;

/** A body as JSON, or why it is none. */
export type JsonReading =
  | { readonly value: unknown; readonly text: string; readonly fault: null }
  | { readonly value: null; readonly fault: string };

/**
 * Reads a body as JSON (RFC 8259). A byte order mark is passed over and bytes that are no UTF-8
 * come out as U+FFFD, as with jq; of members named twice the last one counts. A member named
 * `__proto__` is not part of the value; the text keeps it.
 */
export function readJson(body: Buffer): JsonReading {
  if (body.length > 2 * maxDepth && isTooDeep(body)) {
    return { value: null, fault: `is nested deeper than ${maxDepth} levels` };
  }
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = body.toString("utf8", marked ? 3 : 0);
  try {
    return { value: parseJson(text), text, fault: null };
  } catch {
    return { value: null, fault: body.length === 0 ? "is empty" : "is no JSON" };
  }
}

/**
 * `JSON.parse` without members named `__proto__`, so that no later copy of an object can take one for
 * a prototype.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // Most answers have neither two underscores nor escapes, and searching for those costs nothing.
  const suspicious = text.includes("__") || text.includes("\\u00");
  return suspicious && protoMember.test(text)
    ? JSON.parse(text, (member, value: unknown) => (member === "__proto__" ? undefined : value))
    : JSON.parse(text);
}

/** A value as JSON object, or null when it is none (an array is none). */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : null;
}

const quote = 0x22;
const backslash = 0x5c;

/** A body shorter than twice the limit cannot be too deep, so this runs for long bodies alone. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) {
      for (at++; at < body.length && body[at] !== quote; at++) if (body[at] === backslash) at++;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

import type { JsonObject } from "./finding.js";

/**
 * The members of a JSON object by name, each value as the text that it has in the input, so that
 * numbers keep their digits and nothing is written anew. Of a repeated name the last value counts.
 *
 * @param object a text that `JSON.parse` takes for an object
 */
export function memberTexts(object: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(object, object.indexOf("{") + 1);
  while (object.charCodeAt(at) !== closeBrace) {
    const nameEnd = endOfString(object, at);
    const name = stringValue(object.slice(at, nameEnd));
    at = skipSpace(object, skipSpace(object, nameEnd) + 1);
    const end = endOfValue(object, at);
    members.set(name, object.slice(at, end));
    at = skipSeparator(object, end);
  }
  return members;
}

/** The elements of a JSON array, each as the text that it has in the input. */
export function elementTexts(array: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(array, array.indexOf("[") + 1);
  while (array.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(array, at);
    elements.push(array.slice(at, end));
    at = skipSeparator(array, end);
  }
  return elements;
}

/** A JSON value as the text of a cell: a string's own text, "" for null, else as it stands. */
export function cellText(value: string): string {
  const first = value.charCodeAt(0);
  if (first === quote) return stringValue(value);
  return value === "null" ? "" : value;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function stringValue(text: string): string {
  return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function skipSeparator(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text.charCodeAt(at) === comma ? skipSpace(text, at + 1) : at;
}

/** Just behind the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Just behind the value that begins at `at`. */
function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return endOfString(text, at);
  if (first === openBrace || first === openBracket) return endOfNested(text, at);
  let end = at + 1;
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end += 1;
  return end;
}

function endsScalar(unit: number): boolean {
  return unit === comma || unit === closeBrace || unit === closeBracket || isSpace(unit);
}

function endOfNested(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
      continue;
    }
    if (unit === openBrace || unit === openBracket) depth += 1;
    else if (unit === closeBrace || unit === closeBracket) depth -= 1;
    at += 1;
  } while (depth > 0);
  return at;
}

/**
 * The `result` in an envelope's text as the service wrote it, digits, order and repeated members
 * included. Line breaks are removed: JSON has them between tokens only, and a line of NDJSON has none.
 *
 * @param envelope a text that `JSON.parse` takes for an object with a `result`
 */
export function resultText(envelope: string): string {
  const text = memberTexts(envelope).get("result") ?? "null";
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]+/g, "") : text;
}

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

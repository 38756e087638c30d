import { randomUUID } from "node:crypto";
import { toWellFormed } from "./bytes.js";
import type { JsonObject } from "./finding.js";

/**
 * The members of a JSON object by name, each value as its original text, so that numbers keep their
 * digits. If a name repeats, the last value wins.
 *
 * @param object valid JSON text of an object
 */
export function memberTexts(object: string): Map<string, string> {
  const members = new Map<string, string>();
  const texts = elementTexts(object);
  for (let at = 0; at < texts.length; at += 2) members.set(stringValue(texts[at]!), texts[at + 1]!);
  return members;
}

/**
 * The elements of a JSON array, as their original texts; of an object, its names and values in turn.
 *
 * @param container valid JSON text of an array or object
 */
export function elementTexts(container: string): readonly string[] {
  const elements: string[] = [];
  let from = container.search(/[[{]/) + 1;
  let depth = 1;
  for (let at = from; depth > 0 && at < container.length; at += 1) {
    const unit = container.charCodeAt(at);
    if (unit === quote) at = closingQuote(container, at);
    else if (unit === openBrace || unit === openBracket) depth += 1;
    else if (unit === closeBrace || unit === closeBracket) depth -= 1;
    if (depth < 2 && (depth === 0 || unit === comma || unit === colon)) {
      elements.push(container.slice(from, at).trim());
      from = at + 1;
    }
  }
  return elements[0] === "" ? [] : elements;
}

function closingQuote(text: string, opening: number): number {
  for (let at = text.indexOf('"', opening + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

export function objectText(members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** The cell text of a JSON value: a string's content, "" for null, otherwise the JSON itself. */
export function cellText(value: string): string {
  const first = value.charCodeAt(0);
  if (first === quote) return stringValue(value);
  return value === "null" ? "" : value;
}

/**
 * The text of a JSON value in a cell: as `cellText`, and a list joined with `|`, if that keeps its
 * elements apart.
 */
export function joinedText(value: string): string {
  if (value.charCodeAt(0) !== openBracket) return cellText(value);
  const elements = elementTexts(value);
  const isPlain = (element: string): boolean =>
    element !== "null" && !element.startsWith("[") && !cellText(element).includes("|");
  return elements.every(isPlain) ? elements.map(cellText).join("|") : value;
}

/** JSON text with U+FFFD for each lone surrogate, escaped or not: many parsers refuse them. */
export function wellFormedJson(text: string): string {
  return toWellFormed(text).replace(surrogateEscapes, (whole, lone) =>
    lone === undefined ? whole : "\uFFFD",
  );
}

/** An escaped backslash, a pair of surrogates, or a lone one, which is captured. */
const surrogateEscapes =
  /\\(?:\\|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2}))/g;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function stringValue(text: string): string {
  return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/**
 * The text of an envelope's `result` as received: same digits, order and repeated members. Line breaks
 * are removed so that it fits on one line of NDJSON; JSON has them only between tokens.
 *
 * @param envelope valid JSON text of an object with a `result`
 */
export function resultText(envelope: string): string {
  const text = memberTexts(envelope).get("result") ?? "null";
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]+/g, "") : text;
}

/** Maximum nesting. The interface needs 7 levels; much deeper would overflow the stack of recursive code. */
const maxDepth = 1000;

/** Matches any spelling of `__proto__` in JSON text, escaped or not, and little else. */
const protoMember = /(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)/;

type JsonReading =
  | { readonly value: unknown; readonly text: string; readonly fault: null }
  | { readonly value: null; readonly fault: string };

/**
 * Parses a body as JSON (RFC 8259). Like jq, it skips a byte order mark and turns invalid UTF-8 into
 * U+FFFD; if a name repeats, the last member wins. The value lacks members named `__proto__`; the text
 * keeps them.
 */
export function readJson(body: Buffer, parse = parseJson): JsonReading {
  if (body.length > 2 * maxDepth && isTooDeep(body)) {
    return { value: null, fault: `is nested deeper than ${maxDepth} levels` };
  }
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = body.toString("utf8", marked ? 3 : 0);
  try {
    return { value: parse(text), text, fault: null };
  } catch {
    return { value: null, fault: body.length === 0 ? "is empty" : "is not JSON" };
  }
}

/**
 * `JSON.parse` without members named `__proto__`, so that copying an object never sets a prototype.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // Most answers contain neither, and the check is nearly free.
  const suspicious = text.includes("__") || text.includes("\\u00");
  return suspicious && protoMember.test(text)
    ? JSON.parse(text, (member, value: unknown) => (member === "__proto__" ? undefined : value))
    : JSON.parse(text);
}

/** A number whose digits a double cannot hold. */
export class ExactNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** `JSON.stringify` can write the digits only as text; `jsonText` writes the number. */
  toJSON(): string {
    return this.#text;
  }
}

/** A string, or a number that may have more digits than a double: 15 are always safe. */
const exactTokens = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;
const manyDigits = /\d(?:\.?\d){15}|\d[eE][+-]?\d{3}/;

/**
 * `parseJson` with an `ExactNumber` for each number that would lose digits.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const rounded = parseJson(text);
  if (!manyDigits.test(text)) return rounded;
  const mark = randomUUID();
  const marked = text.replaceAll(exactTokens, (token) => {
    const isKept = token.startsWith('"') || !manyDigits.test(token);
    return isKept || String(Number(token)) === token ? token : `"${mark}${token}"`;
  });
  return JSON.parse(marked, (member, value: unknown) => {
    if (member === "__proto__") return undefined;
    const isMarked = typeof value === "string" && value.startsWith(mark);
    return isMarked ? new ExactNumber(value.slice(mark.length)) : value;
  });
}

/** A value as JSON text, in which each `ExactNumber` has its digits. */
export function jsonText(value: unknown): string {
  if (value instanceof ExactNumber) return String(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return objectText(new Map(members.map(([name, inner]) => [name, jsonText(inner)])));
}

/** The object that a JSON text is; null for any other text. */
export function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A value as JSON object; null if it is anything else, arrays included. */
export function asObject(value: unknown): JsonObject | null {
  const isOther = Array.isArray(value) || value instanceof ExactNumber;
  return typeof value === "object" && value !== null && !isOther ? (value as JsonObject) : null;
}

/** Bodies shorter than twice the limit cannot be too deep, so this runs on long ones only. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) {
      for (at++; at < body.length && body[at] !== quote; at++) if (body[at] === backslash) at++;
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxDepth) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
}

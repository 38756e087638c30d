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

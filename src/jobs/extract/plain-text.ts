import { replaceAtBackslashes } from "../../core/item/refang.js";

/**
 * The text with escapes read, and without the mail headers that name servers and messages. Every line
 * stays a line.
 */
export function plainText(text: string): string {
  let read = text;
  if (text.includes("\\")) {
    if (jsonQuotes.test(text)) read = replaceAtBackslashes(read, escapes, unescaped);
    read = replaceAtBackslashes(read, codes, decoded);
  }
  return read.includes(":") ? read.replace(headers, onlyLineEnds) : read;
}

/** Printable characters and quotes, as JSON and JavaScript write them, also within another JSON text. */
const codes = /(?<!\\)\\+(?:(?:u00|x)([2-7][\da-f])|(?="))/iy;

function decoded([, code]: RegExpExecArray): string {
  return code === undefined ? "" : String.fromCharCode(Number.parseInt(code, 16));
}

/** Quotes as in JSON: Windows paths have no such names and colons. */
const jsonQuotes = /^\s*[[{\]}]|"\s*[:,]\s*["[{]/;

const escapes = /\\(?:[\\nrt/"]|u00[0-7][\da-f])/iy;

function unescaped([escape]: RegExpExecArray): string {
  const char = escape.charAt(1);
  if (char === "/" || char === '"') return char;
  if (char === "u") {
    const coded = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
    return coded === "\n" ? " " : coded;
  }
  return char === "\\" ? escape : " ";
}

/**
 * Headers that name servers and messages, from the colon on, with their continuation lines. The colon
 * is looked for first, since few characters are colons.
 */
const headers =
  /:(?:(?<=^(?:x-)?received:)(?=[ \t]+(?:from|by)\b)|(?<=^(?:message-id|in-reply-to|references|content-id):)(?=[ \t]*(?:\r?\n[ \t]+)?<)|(?<=^(?:dkim-signature|arc-[\w-]+|authentication-results|received-spf|x-google-[\w-]+|x-mailer):)).*(?:\n[ \t]+.*)*/gim;

function onlyLineEnds(lines: string): string {
  return "\n".repeat(lines.split("\n").length - 1);
}

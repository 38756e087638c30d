/** Stands before a character that was defanged; no text to be searched needs it. */
export const defangMark = "\u0001";

/**
 * The text with defanging undone, JSON's escapes read, and without the mail headers that name
 * servers and messages. Every line stays a line.
 */
export function preparedText(text: string): string {
  const read = text.includes("\\") && isJson(text) ? text.replace(escapes, unescaped) : text;
  const bare = read.includes(":") ? read.replace(headers, onlyLineEnds) : read;
  return mayBeDefanged.test(bare)
    ? bare.replace(defanged, (_, token: string) => refanged(token))
    : bare;
}

/** Whether quotes within it are those of JSON: Windows paths have no such names and colons. */
function isJson(text: string): boolean {
  return /^\s*[[{\]}]|"\s*[:,]\s*["[{]/.test(text);
}

const escapes = /\\(?:[\\nrt/"]|u00[0-7][\da-f])/gi;

function unescaped(escape: string): string {
  const char = escape.charAt(1);
  if (char === "/" || char === '"') return char;
  if (char === "u") {
    const coded = String.fromCharCode(Number.parseInt(escape.slice(2), 16));
    return coded === "\n" ? " " : coded;
  }
  return char === "\\" ? escape : " ";
}

/**
 * Headers that name servers and messages, with their continuation lines. The first letter is looked
 * at first, since few lines are headers.
 */
const headers =
  /^(?=[racmidx])(?:(?:x-)?received:[ \t]+(?:from|by)\b|(?:message-id|in-reply-to|references|content-id):[ \t]*(?:\r?\n[ \t]+)?<|(?:dkim-signature|arc-[\w-]+|authentication-results|received-spf|x-google-[\w-]+|x-mailer):).*(?:\n[ \t]+.*)*/gim;

function onlyLineEnds(lines: string): string {
  return lines.replaceAll(/[^\n]+/g, "");
}

/** Cheaper than `defanged`, which most texts do not need. */
const mayBeDefanged = /[[({][ \t]?(?:\.|dot|@|at|:|\/)[:/]*[ \t]?[\])}]|\\[.=][\w-]|\[\.\w/i;
const defanged =
  /[ \t]?[[({]{1,2}[ \t]?(\.|dot|@|at|:\/\/|::?|\/)[ \t]?[\])}]{1,2}[ \t]?|\[(?<=\w\[)(?=\.[\w.-]+(?![\w.\]-]))|\\(?=[.=][\w-])/gi;

function refanged(token: string | undefined): string {
  const char = token?.toLowerCase();
  if (char === undefined) return defangMark;
  return defangMark + (char === "dot" ? "." : char === "at" ? "@" : char);
}

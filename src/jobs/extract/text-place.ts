import { fileExtensions } from "../../core/item/detect.js";
import { hasPublicSuffix } from "../../core/item/hostname.js";

/** Where the word with an item begins and ends in its text. */
export interface TextPlace {
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** Members of code and lists are short; what is further away says little. */
const reach = 160;

export function lineBefore({ text, at }: TextPlace): string {
  const before = text.slice(Math.max(0, at - reach), at);
  return before.slice(Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1);
}

export function lineAfter({ text, end }: TextPlace): string {
  return /^[^\n\r]*/.exec(text.slice(end, end + reach))![0];
}

/** Whether quotes enclose exactly the word. */
export function isQuoted({ text, at, end }: TextPlace): boolean {
  const quote = text.charAt(at - 1);
  return (quote === '"' || quote === "'") && text.charAt(end) === quote;
}

const bullet = /^\s*(?:>\s)?\s*(?:[-*•·+]|\d{1,3}[.)])?[\s"'`<|]*$/;
const lineTail = /^[\s"'`>|,;.]*$/;

/** Whether a word begins its line, perhaps as an entry of a list. */
export function startsLine(place: TextPlace): boolean {
  return bullet.test(lineBefore(place));
}

/** Whether a line holds nothing else than the word. */
export function isAlone(place: TextPlace): boolean {
  return startsLine(place) && lineTail.test(lineAfter(place));
}

/** Endings of files that are no top-level domains. */
const fileEndings = [...fileExtensions].filter((ending) => !hasPublicSuffix(`a.${ending}`));
const files = `[\\w-]\\.(?:${fileEndings.join("|")})(?![\\w-]|\\.\\w)`;
export const fileName = new RegExp(files, "i");
/** A line that is a file's name or a path. */
const fileLine = new RegExp(`^\\S*${files}\\S?$|^[~.]{0,2}/?(?:[\\w.-]+/)+[\\w.-]*$`, "i");

const nearLines = 512;

/** Whether a line next to the word's is the name of a file: a listing has one kind. */
export function isListedWithFiles({ text, at, end }: TextPlace): boolean {
  const before = text.slice(Math.max(0, at - nearLines), at).split(/\r?\n|\r/);
  const after = text.slice(end, end + nearLines).split(/\r?\n|\r/);
  return [...linesUntilGap(before.reverse()), ...linesUntilGap(after)].some((line) =>
    fileLine.test(line),
  );
}

/** Up to three lines from the second on, before an empty one. */
function linesUntilGap(lines: readonly string[]): readonly string[] {
  const near = lines.slice(1, 4).map((line) => line.replaceAll(/^[\s"'`*•-]+|[\s"'`,;]+$/g, ""));
  const gap = near.indexOf("");
  return gap < 0 ? near : near.slice(0, gap);
}

const key =
  /(?:^|[\s{,[(])(["']?)([a-z][\w .:@-]{0,40}?)\1\s*(?:[:=]|=>)\s*\[?\s*(?:(["'])[^"'\n]{0,80}\3\s*,\s*){0,9}$/i;
const type =
  /"(?:type|kind|category|data_?type|ioc_?type|indicator_?type|object_relation)"\s*:\s*"([^"]*)"/i;

/** What a quoted value is called, and the type that a JSON object declares for it. */
export function nameOfValue({ text, at, end }: TextPlace): string {
  const before = text.slice(Math.max(0, at - 1 - 2 * reach), at - 1);
  const name = key.exec(before)?.[2];
  if (name === undefined) return "";
  const object =
    before.slice(Math.max(before.lastIndexOf("{"), before.lastIndexOf("}")) + 1) +
    /^[^{}]*/.exec(text.slice(end, end + 2 * reach))![0];
  return `${type.exec(object)?.[1] ?? ""} ${name}`;
}

/**
 * What code has, and text about code: names with `_`, calls, options, paths, numbers of issues, ends of
 * lines. Each begins with a character that few words have.
 */
const signs = new RegExp(
  [
    /_(?<=\w_)(?=\w)|\((?<=\w\()|#\d|-(?<=\s--?)[a-z]|`\w|::(?<=\w::)(?=\w)|->/,
    /\/(?<=[\s(`][a-z][\w-]{0,40}\/)[\w-]+[./][a-z]/,
    /:(?<=[a-z]\.[a-z]{1,3}:)\s/,
    /\.(?<=\w\.)(?:c|h|cpp|hpp|rst|m4|patch|diff|toml|css|deb)\b/,
    /\n(?<=[;{([]\r?\n)|\n[ \t]*(?:[})*@\]]|\/\/|>>> |\.[A-Z])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);
const mostSigns = 3;
const nearCode = 600;

/** Whether the text around a place is code, or about code. */
export function isCodeAround({ text, at, end }: TextPlace): boolean {
  const around = text.slice(Math.max(0, at - nearCode), end + nearCode);
  signs.lastIndex = 0;
  for (let count = 1; signs.test(around); count++) if (count >= mostSigns) return true;
  return false;
}

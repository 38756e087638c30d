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

/** Whether a line holds nothing else than the word, perhaps as an entry of a list. */
export function isAlone(place: TextPlace): boolean {
  return bullet.test(lineBefore(place)) && lineTail.test(lineAfter(place));
}

/** Endings of files that are no top-level domains. */
const fileEndings =
  "7z a apk asp aspx awk bak bash bat bin bmp bz2 c cfg chm class cmd cmake conf config cpp cs css " +
  "csv cxx dat db deb diff dll dmg doc docx dylib elf eml exe gif gz h hpp hta htm html ico img " +
  "ini ipa iso jar jpeg jpg js json jsp jsx key ko lnk lock log lua m4 mak mjs mp3 mp4 msi " +
  "ocx odt patch pcap pdf pem php png po ppt pptx ps1 pyc rar rb rc rpm rst rtf scr service sql " +
  "svg swf sys tar tbz2 tex tgz tmp toml ts tsv tsx ttf txt vbe vbs war wasm wav webp xhtml xls xlsm " +
  "xlsx xml xsl xz yaml yar yml";
const files = `[\\w-]\\.(?:${fileEndings.replaceAll(" ", "|")})(?![\\w-]|\\.\\w)`;
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

/** Lines of code, names of sources, and the words of who maintains them. */
const technical = new RegExp(
  "\\n(?<=(?:[;{(]|\\w\\)?[:,]|\\w\\([^()\\n]*\\)?[:,]?)\\r?\\n)" +
    "|^\\s*(?:[}#@)\\]]|//|/?\\*|>>> |\\.(?:[A-Z]{2}|[BIP]) |def |class |import |from \\S+ import|return |if |elif |for |use |let |const |var |my |fn |pub |[\\w.]+ [+-]?= )" +
    "|\\\\f[\\[A-Z\\d]|:(?:issue|ref|func|class|mod|meth|doc):|``\\w|\\bself\\.|\\b__\\w+__\\b" +
    "|\\.(?<=[\\w-]\\.)(?:c|h|cpp|hpp|rst|m4|patch|diff|toml|css|deb)\\b" +
    "|\\b(?:copyright|licen[cs]ed?|debian|upstream|changelog|refactor\\w*|commit|merged?|compil\\w+|deprecated|argument|functions?|closes:|regression|makefile|compiler|parser|stdin|stdout|subclass|tests?|bug)\\b",
  "gim",
);
const pageLength = 4096;

/** Says whether a page around a place, or one next to it, is code or about code. */
export function technicalPages(text: string): (at: number) => boolean {
  const pages: (boolean | undefined)[] = [];
  const isPage = (index: number): boolean =>
    (pages[index] ??= isTechnical(
      text.slice(Math.max(0, index * pageLength), (index + 1) * pageLength),
    ));
  return (at) => {
    const index = Math.floor(at / pageLength);
    return isPage(index) || isPage(index + 1) || (index > 0 && isPage(index - 1));
  };
}

function isTechnical(page: string): boolean {
  let lines = 4;
  for (let at = page.indexOf("\n"); at >= 0; at = page.indexOf("\n", at + 1)) lines += 1;
  technical.lastIndex = 0;
  for (let signs = 1; technical.test(page); signs++)
    if (signs > 3 && signs * 4 > lines) return true;
  return false;
}

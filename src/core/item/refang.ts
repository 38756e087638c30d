/**
 * Undoes every spelling of an item that keeps programs from reading it, in a cell or in any text:
 * brackets around `.` `:` `://` `/` `@` and around `dot` and `at` with the white space beside them,
 * one of the two brackets (`[.`, `.]`), brackets around a scheme, backslashes before punctuation, full-width marks, dashes that
 * look like a hyphen, and invisible characters. Every line stays a line. Takes linear time.
 *
 * @param mark stands before each character that was defanged, but slashes and what is escaped
 * @default mark ""
 */
export function refangText(text: string, mark = ""): string {
  let plain = foldMarks(text);
  plain = replaceAtBackslashes(plain, escapedUrl, withSlashes);
  return bracketOrBackslash.test(plain) ? undoTokens(plain, mark) : plain;
}

/** As `refangText`, for a text that is one item: undoes its scheme (`hxxp`) and nested tokens, too. */
export function refang(text: string): string {
  let plain = refangText(text);
  for (let round = 0; round < rounds && bracketOrBackslash.test(plain); round++) {
    const again = refangText(plain);
    if (again === plain) break;
    plain = again;
  }
  return fangedScheme(plain);
}

const rounds = 8;
const bracketOrBackslash = /[[\](){}\\]/;
const scheme = /^hxxps?:/i;

/** A URL that begins with `hxxp` with its scheme; any other text unchanged. */
export function fangedScheme(text: string): string {
  return scheme.test(text)
    ? text.replace(scheme, (defanged) => defanged.toLowerCase().replace("xx", "tt"))
    : text;
}

/**
 * A URL from its first backslash on: its slashes are JSON's, or backslashes, which browsers read as slashes;
 * `\n` and the like end a line.
 */
const escapedUrl =
  /\\(?<=:\]?\/?\\)(?:\\*\/\\+\/|(?<=\b(?:h(?:tt|xx)ps?|ftp|wss?)[\])]?\[?:\]?\/?\\)(?:[\\/]+|(?<=\/\\)|(?![nrt]))(?=[\w[]))[^\s"'<>|]*/iy;

function withSlashes({ 0: url, index, input }: RegExpExecArray): string {
  if (jsonUrl.test(url)) return url.replaceAll(/\\+\//g, "/");
  const start = input.charAt(index - 1) === "/" ? "/" : "//";
  return url.replace(/[\\/]+/, start).replaceAll(/\\+(?!\.)/g, "/");
}

/**
 * As `replaceAll` for matches that begin with a backslash: few texts have any, and `indexOf` finds them
 * faster than an expression.
 *
 * @param pattern with the flag `y`
 */
export function replaceAtBackslashes(
  text: string,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): string {
  let replaced = "";
  let from = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", Math.max(at + 1, from))) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    replaced += text.slice(from, at) + replacement(match);
    from = pattern.lastIndex;
  }
  return from === 0 ? text : replaced + text.slice(from);
}

const jsonUrl = /^\\+\/\\+\//;

/** Dashes, invisible characters, and wide marks and digits. */
const exotic =
  /[\u00ad\u061c\u180e\u200b-\u200f\u2010-\u2015\u202a-\u202e\u2060-\u2069\u2212\u3002\ufe58\ufe63\ufeff\uff0d-\uff1a\uff20\uff61]/g;
const dashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d";
/** Joiners are letters to some scripts, and part of their domains. */
const joiners = /[\u200c\u200d](?:(?<![^\0-\x7f].)|(?![^\0-\x7f]))/g;
const wide = /[\u200c-\u200d\u3002\uff0e-\uff1a\uff20\uff61]/;
/** Dots, colons, slashes and at signs, but not those of a Chinese or Japanese sentence or name. */
const wideMarks =
  /[\u3002\uff0e\uff61](?<=[!-~].)(?=[!-~])|\uff1a(?<=[\w\]].)(?=[\w/[\uff0f\uff10-\uff19])|\uff1a(?=[/\uff0f])|\uff0f(?<=[:\uff1a][/\uff0f]?.)|\uff20(?<=[!-~].)(?=[!-~])/g;
const meanings: Readonly<Record<string, string>> = { "\uff1a": ":", "\uff0f": "/", "\uff20": "@" };
const wideDigit = /[\uff10-\uff19]/;
const quads =
  /(?<![\w.])(?=[\d.]*[\uff10-\uff19])(?:[\d\uff10-\uff19]{1,3}[.\u3002\uff0e\uff61]){3}[\d\uff10-\uff19]{1,3}/g;

function foldMarks(text: string): string {
  if (text.search(exotic) < 0) return text;
  let isWide = false;
  const visible = text.replaceAll(exotic, (char) => {
    if (dashes.includes(char)) return "-";
    if (!wide.test(char)) return "";
    isWide = true;
    return char;
  });
  if (!isWide) return visible;
  const narrow = wideDigit.test(visible) ? visible.replaceAll(quads, narrowQuad) : visible;
  return narrow.replaceAll(joiners, "").replaceAll(wideMarks, (mark) => meanings[mark] ?? ".");
}

function narrowQuad(quad: string): string {
  return quad.normalize("NFKC").replaceAll("\u3002", ".");
}

/**
 * What stands for a character: a token in brackets; `::` between the groups of an address; one bracket
 * beside a dot; brackets around a scheme; a backslash before punctuation.
 */
const tokens = new RegExp(
  [
    /\[[ \t]*(\.|dot|@|at|:\/\/|:|\/)[ \t]*\]/,
    /\([ \t]*(\.|dot|@|at)[ \t]*\)/,
    /\{[ \t]*(\.|dot|@|at)[ \t]*\}/,
    /\[(?<=[\da-f\]]\[)(::)\](?!:)|\[(::)\](?=[\da-f])/,
    /\[(?<=\w\[)(?=\.(?:[\w-]+\.\]?)*[\w-]+\.*(?![\w.\]-]))/,
    /\](?<=\w\.\])(?=\w)/,
    /[([{](h(?:tt|xx)ps?|ftp|wss?)(?:\[?:\/\/\]?|\[:\]\/\/|:\[\/\]\[\/\])[)\]}](?=[\w[])/,
    /[([{](h(?:tt|xx)ps?|ftp|wss?|(?<=\bh(?:tt|xx)p.)s)[)\]}](?=[[(]?:[)\]]?[[(]?\/)/,
    // Browsers read it as a slash in `http://192.0.2.1\@example.com/`, which leads to 192.0.2.1.
    /\\{1,2}(?=[._=@:~*#&+-][\w-])(?!(?<=\b(?:h(?:tt|xx)ps?|ftp|wss?)\[?:[\\/[\]]*[^\s/?#]{1,256})[^\s/?#]*@)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);

function undoTokens(text: string, mark: string): string {
  let plain = "";
  let from = 0;
  tokens.lastIndex = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    let token = found[1] ?? found[2] ?? found[3] ?? found[4] ?? found[5];
    const scheme = found[6] === undefined ? found[7] : `${found[6]}://`;
    let start = found.index;
    let end = tokens.lastIndex;
    if (found[0] === "]" && start > from) {
      token = ".";
      start--;
    } else if (token !== undefined) {
      while (start > from && closers[text.charAt(start - 1)] === text.charAt(end)) {
        start--;
        end++;
      }
      while (start > from && blank.test(text.charAt(start - 1))) start--;
      while (blank.test(text.charAt(end))) end++;
    }
    plain +=
      text.slice(from, start) +
      (scheme ?? (escaped.includes(token ?? text.charAt(end)) ? "" : mark) + meaning(token));
    from = end;
    tokens.lastIndex = end;
  }
  return from === 0 ? text : plain + text.slice(from);
}

/** Slashes, and what Markdown and manual pages escape: nobody defangs these. */
const escaped = "/_=~*#&+-";
/** White space but the ends of lines. */
const blank = /[^\S\n\v\f\r]|[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064]/;
const closers: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

function meaning(token: string | undefined): string {
  const char = token?.toLowerCase() ?? "";
  return char === "dot" ? "." : char === "at" ? "@" : char;
}

/**
 * Removes what surrounds a value in a cell: white space (including the zero-width and directional
 * marks that spreadsheets and web pages add), quotes, angle brackets and trailing commas. Quotes that
 * open inside a URL surround nothing: `http://example.com/?q="a"`. Returns the same string if there is
 * nothing to remove. Takes linear time.
 */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && leading.test(text.charAt(start))) start++;
  while (end > start && trailing.test(text.charAt(end - 1)) && !isOfUrl(text, start, end)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** White space as `String.prototype.trim` defines it, invisible marks, quotes and angle brackets. */
const leading =
  /[\s\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064"'`<>“”„‟‘’‚‛«»‹›《》〈〉「」『』]/;
/** Also commas, and the full stops of Chinese and Japanese. */
const trailing = new RegExp(`${leading.source}|[,、，。｡]`);

/** Whether the quote or angle bracket at the end of a URL has its opening one inside. */
function isOfUrl(text: string, start: number, end: number): boolean {
  const opening = openings[text.charAt(end - 1)];
  if (opening === undefined || end - start > longestUrl) return false;
  const at = text.lastIndexOf(opening, end - 2);
  return at > start && at < end - 2 && anyScheme.test(text.slice(start, start + longestScheme));
}

const openings: Readonly<Record<string, string>> = { '"': '"', "'": "'", ">": "<" };
const longestUrl = 8192;
const anyScheme = /^[a-z]{2,6}\[?:/i;
const longestScheme = 8;

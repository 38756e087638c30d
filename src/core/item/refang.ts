/**
 * Undoes defanging: `hxxp(s)`, `[.]` `(.)` `{.}` `[dot]` `(dot)`, `[:]`, `[://]`, `[/]`, `[@]`
 * `[at]` `(at)`, in any letter case, including white space around a token
 * (`user [at] example [dot] com`). Undoes nested tokens (`[[.]]`) from the inside out until none is
 * left, so refanging is idempotent. Takes linear time; returns the same string if there are no
 * tokens.
 */
export function refang(text: string): string {
  const plain = bracket.test(text) ? undoTokens(text) : text;
  return scheme.test(plain) ? plain.replace(scheme, fangedScheme) : plain;
}

/** False if refanging cannot change the text. Cheap. */
export function mayBeDefanged(text: string): boolean {
  return bracket.test(text) || scheme.test(text);
}

const bracket = /[[({]/;
const scheme = /^hxxps?:/i;

function fangedScheme(defanged: string): string {
  return defanged.toLowerCase().replace("xx", "tt");
}

const roundOrCurly = new Map([
  [".", "."],
  ["dot", "."],
  ["@", "@"],
  ["at", "@"],
]);
const square = new Map([...roundOrCurly, [":", ":"], ["/", "/"], ["://", "://"]]);

const closers = new Map([
  ["]", { opener: "[", tokens: square }],
  [")", { opener: "(", tokens: roundOrCurly }],
  ["}", { opener: "{", tokens: roundOrCurly }],
]);

/** Length of the opening bracket and the longest token. */
const reach = 4;

function undoTokens(text: string): string {
  const out: string[] = [];
  let behindToken = false;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (behindToken && isSpace(char.charCodeAt(0))) continue;
    behindToken = closeToken(out, char);
    if (!behindToken) out.push(char);
  }
  return out.join("");
}

/** Replaces the token at the end of `out` that `char` closes; false if there is none. */
function closeToken(out: string[], char: string): boolean {
  const closer = closers.get(char);
  if (closer === undefined) return false;
  for (let back = 2; back <= reach; back++) {
    if (out.at(-back) !== closer.opener) continue;
    const token = closer.tokens.get(
      out
        .slice(1 - back)
        .join("")
        .toLowerCase(),
    );
    if (token === undefined) return false;
    out.length -= back;
    while (out.length > 0 && isSpace(out.at(-1)?.charCodeAt(0) ?? 0)) out.pop();
    out.push(...token.split(""));
    return true;
  }
  return false;
}

/**
 * Removes what surrounds a value in a cell: white space (including the zero-width and directional
 * marks that spreadsheets and web pages add), quotes, angle brackets and trailing commas. Returns the
 * same string if there is nothing to remove. Takes linear time.
 */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && surrounds(text.charCodeAt(start))) start++;
  while (end > start && (text.charCodeAt(end - 1) === comma || surrounds(text.charCodeAt(end - 1))))
    end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** White space as `String.prototype.trim` defines it, and invisible marks. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202f) ||
    (code >= 0x205f && code <= 0x2064) ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

const comma = 0x2c;
const quotesAndAngles = new Set(Array.from("\"'`<>“”„‟‘’‚‛«»‹›", (char) => char.charCodeAt(0)));

function surrounds(code: number): boolean {
  // Letters and digits are by far the most frequent ends, so test them first.
  if (code > 0x60 && code < 0x80) return false;
  return isSpace(code) || quotesAndAngles.has(code);
}

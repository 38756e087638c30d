const hidden = "[hidden]";

/** Shorter credentials may be part of any word, so they are hidden only where they stand alone. */
const leastInData = 8;

/**
 * Hides a credential that a service echoes: as it is, in base64, in hex, with percent-encoding (RFC 3986),
 * HTML entities or JSON escapes.
 */
export class CredentialMask {
  readonly #isShort: boolean;
  readonly #pattern: RegExp;
  /** Matches any text that has something to hide; most have not. */
  readonly #suspicious: RegExp;

  /** @param credential visible ASCII characters, at least one */
  constructor(credential: string) {
    this.#isShort = credential.length < leastInData;
    const inHex = Array.from(credential, (one) => hexPattern(codeOf(one))).join("");
    const pattern = this.#isShort
      ? `(?<![A-Za-z0-9])${charactersIn(credential)}(?![A-Za-z0-9])`
      : [charactersIn(credential), inHex, ...base64Cores(credential)].join("|");
    this.#pattern = new RegExp(pattern, "g");
    this.#suspicious = new RegExp(`${pattern}|${names}`, "i");
  }

  /** Hides it in text for people, such as error messages. Also hides values of credential headers. */
  inText(text: string): string {
    if (!this.#suspicious.test(text)) return text;
    return text
      .replaceAll(this.#pattern, hidden)
      .replaceAll(headerMember, `$1${hidden}`)
      .replaceAll(headerLine, `$1${hidden}`);
  }

  inErrorBody(body: Buffer): Buffer {
    const text = body.toString("latin1");
    const masked = this.inText(text);
    return masked === text ? body : Buffer.from(masked, "latin1");
  }

  /** Hides it in data. Ignores a short credential, which might be any word. */
  inData(body: Buffer): Buffer {
    if (this.#isShort) return body;
    const text = body.toString("latin1");
    const masked = text.replaceAll(this.#pattern, hidden);
    return masked === text ? body : Buffer.from(masked, "latin1");
  }
}

const names = "(?:proxy-)?authorization|x-api-key|api-key|cookie";
/** A quote, also in JSON within JSON. Bounded, so matching takes linear time. */
const quote = String.raw`\\{0,8}["']`;

/** `"x-api-key": "…"`. Replaces string values only, so the result stays valid JSON. */
const headerMember = new RegExp(
  String.raw`(${quote}(?:${names})${quote}\s*:\s*${quote}(?:(?:bearer|basic)\s+)?)(?!\[hidden\])[^\s"'\\]+`,
  "gi",
);

/** `x-api-key: …`, `Authorization: Bearer …` */
const headerLine = new RegExp(
  String.raw`(\b(?:${names})\s*[:=]\s*(?:(?:bearer|basic)\s+)?)(?!\[hidden\])[^\s"'\\,;<>]+`,
  "gi",
);

function charactersIn(credential: string): string {
  return Array.from(credential, characterPattern).join("");
}

/** A percent sign, percent-encoded again any number of times. */
const percent = "%(?:25){0,8}";

/** An ampersand, which JSON may escape, as an HTML entity again any number of times. */
const ampersand = String.raw`(?:&|\\{1,8}u0026)(?:amp;){0,8}`;

/** A character verbatim, as `%XX`, `&#NN;`, `&name;` or `\u00XX`, with backslashes where JSON allows them. */
function characterPattern(character: string): string {
  const code = codeOf(character);
  const hex = hexPattern(code);
  const itself = character.replace(/[^A-Za-z0-9]/, String.raw`\$&`);
  const escaped = /["\\/]/.test(character) ? String.raw`\\{0,8}` : "";
  const name = entityNames.get(character) ?? "#";
  const entity = `${ampersand}(?:#0{0,6}${code}|#[xX]0{0,6}${hex}|${name});`;
  return String.raw`(?:${percent}${hex}|${entity}|\\{1,8}u00${hex}|${escaped}${itself})`;
}

/** HTML's names of visible ASCII characters, each before its character. */
const entityNames: ReadonlyMap<string, string> = new Map(
  (
    "excl! quot\" num# dollar$ percnt% amp& apos' lpar( rpar) ast* plus+ comma, period. sol/ colon: semi; " +
    "lt< equals= gt> quest? commat@ lsqb[ bsol\\ rsqb] Hat^ lowbar_ grave` lcub{ vert| rcub}"
  )
    .split(" ")
    .map((entry) => [entry.slice(-1), entry.slice(0, -1)]),
);

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

/** Two hex digits in either case. */
function hexPattern(code: number): string {
  return code
    .toString(16)
    .padStart(2, "0")
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/**
 * Base64 of a text (RFC 4648, both alphabets, also percent-encoded or with JSON's `\/`) at each of the
 * three possible byte offsets, without the characters that depend on the surrounding bytes.
 */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, "latin1")]);
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    return bytes
      .toString("base64")
      .slice(first, end)
      .replaceAll("+", `(?:[+-]|${percent}2[bB])`)
      .replaceAll("/", String.raw`(?:\\{0,8}[/_]|${percent}2[fF])`);
  });
}

/**
 * User name and password of a URL, between its scheme and the last `@` before its path. The password
 * may contain an unencoded slash; a port followed by a path is not a password.
 */
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^/\s?#]*|[^/\s:@]*:(?!\d*[/?#])\S*)@/gi;

/** A password in the query of a database URL, which drivers accept too. */
const parameters = /([?&](?:ssl)?password=)[^&\s#]*/gi;

/** Masks user name and password of every URL in a text: `https://***@host`. */
export function redactAddress(text: string): string {
  return text.replaceAll(credentials, "$1***@").replaceAll(parameters, "$1***");
}

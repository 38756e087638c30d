const hidden = "[hidden]";

/** Shorter credentials may be part of any word, so they are hidden only where they stand alone. */
const leastInData = 8;

/**
 * Hides a credential that a service echoes: verbatim, percent-encoded (RFC 3986), with JSON escapes or
 * in base64.
 */
export class CredentialMask {
  /** What to search data for: the credential and its encodings that differ from it. */
  readonly #spellings: readonly Buffer[];
  readonly #pattern: RegExp;
  /** Matches any text that has something to hide; most have not. */
  readonly #suspicious: RegExp;

  /** @param credential visible ASCII characters, at least one */
  constructor(credential: string) {
    this.#spellings =
      credential.length < leastInData
        ? []
        : [
            ...new Set([
              credential,
              encodeURIComponent(credential),
              JSON.stringify(credential).slice(1, -1),
            ]),
          ].map((spelling) => Buffer.from(spelling));
    const pattern = patternOf(credential);
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

  /**
   * Hides it in data with one search per spelling. Ignores base64 and short credentials: data
   * doesn't contain the former by accident, and the latter cannot be told from other words.
   */
  inData(body: Buffer): Buffer {
    for (const spelling of this.#spellings) {
      if (!body.includes(spelling)) continue;
      return Buffer.from(body.toString("latin1").replaceAll(this.#pattern, hidden), "latin1");
    }
    return body;
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

function patternOf(credential: string): string {
  const characters = Array.from(credential, characterPattern).join("");
  const alone =
    credential.length < leastInData ? `(?<![A-Za-z0-9])${characters}(?![A-Za-z0-9])` : characters;
  const inBase64 = credential.length < leastInData ? [] : base64Cores(credential);
  return [alone, ...inBase64].join("|");
}

/** A character verbatim, as `%XX` or `\u00XX`, with backslashes where JSON allows them. */
function characterPattern(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(2, "0");
  const hex = `(?:${code}|${code.toUpperCase()})`;
  const itself = character.replace(/[^A-Za-z0-9]/, String.raw`\$&`);
  const escaped = /["\\/]/.test(character) ? String.raw`\\{0,8}` : "";
  return String.raw`(?:${escaped}${itself}|%${hex}|\\{1,8}u00${hex})`;
}

/**
 * Base64 of a text (RFC 4648, both alphabets) at each of the three possible byte offsets, without the
 * characters that depend on the surrounding bytes.
 */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, "latin1")]);
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    return bytes
      .toString("base64")
      .slice(first, end)
      .replaceAll(/[+/]/g, (one) => (one === "+" ? "[+-]" : "[/_]"));
  });
}

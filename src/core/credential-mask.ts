/** What stands where a credential stood. */
const hidden = "[hidden]";

/** Shorter credentials could be a part of anything: they are hidden only where they stand alone. */
const leastInData = 8;

/**
 * Hides a credential in what its receiver sends back: as it is, percent-encoded (RFC 3986), with JSON
 * escapes, or in base64.
 */
export class CredentialMask {
  /** What data is searched for: the credential, and its encodings where they differ from it. */
  readonly #spellings: readonly string[];
  readonly #pattern: RegExp;

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
          ];
    this.#pattern = new RegExp(patternOf(credential), "g");
  }

  /** Hides it in a text that people read, such as an error's: also what follows its header's name. */
  inText(text: string): string {
    return text
      .replaceAll(this.#pattern, hidden)
      .replaceAll(headerMember, `$1${hidden}`)
      .replaceAll(headerLine, `$1${hidden}`);
  }

  /** Does the same with bytes of any encoding that has ASCII in it. */
  inErrorBody(body: Buffer): Buffer {
    const text = body.toString("latin1");
    const masked = this.inText(text);
    return masked === text ? body : Buffer.from(masked, "latin1");
  }

  /**
   * Hides it in data, one search for each. Data does not come in base64 by accident, and short
   * credentials are not told from other words, so that neither is looked for.
   */
  inData(body: Buffer): Buffer {
    for (const spelling of this.#spellings) {
      if (!body.includes(spelling)) continue;
      return Buffer.from(body.toString("latin1").replaceAll(this.#pattern, hidden), "latin1");
    }
    return body;
  }
}

/** Header names under which credentials travel. */
const names = "(?:proxy-)?authorization|x-api-key|api-key|cookie";
/** A quote, in JSON within JSON, too. Bounded, so that time is linear in the length of the text. */
const quote = String.raw`\\{0,8}["']`;

/** `"x-api-key": "…"`: a member's value is text, so that what is left is JSON. */
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

/** A character as it is, `%XX` or `\u00XX`; with backslashes before it where JSON may have them. */
function characterPattern(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(2, "0");
  const hex = `(?:${code}|${code.toUpperCase()})`;
  const itself = character.replace(/[^A-Za-z0-9]/, String.raw`\$&`);
  const escaped = /["\\/]/.test(character) ? String.raw`\\{0,8}` : "";
  return String.raw`(?:${escaped}${itself}|%${hex}|\\{1,8}u00${hex})`;
}

/**
 * What base64 (RFC 4648, either alphabet) makes of a text wherever it begins in a group of three
 * bytes, without the characters that depend on what is around it.
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

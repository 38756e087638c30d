import { TextDecoder } from "node:util";
import {
  Base64Body,
  type Body,
  PlainBody,
  QuotedBody,
  quotedBytes,
  type TextReader,
} from "./mail-body.js";
import { MarkupReader } from "./markup.js";

/** Called with what is not read, or read as something else, and the line where it begins. */
type OnUnread = (what: string, line: number) => void;

interface Part {
  readonly line: number;
  readonly type: string;
  readonly charset: string;
  readonly encoding: string;
  readonly name: string;
}

/** A field of a header that says how a part is encoded. Cheaper than looking at each line. */
const mayBeMail = /ontent-type:|ontent-transfer-encoding:|=\?[\w-]+\?[bq]\?/i;
const field = /^[\w-]+:(?:\s|$)/;
const ofPart = /^content-/i;
const continuation = /^[ \t]+\S/;
const envelope = /^From \S+ .*\d{4}\s*$/;
/** How boundaries and the first lines of mails in a mailbox begin. */
const divider = /^(?:--|From )/;
const mostNested = 8;

/**
 * Reads mails, also in a mailbox or another text: decodes quoted-printable and base64, headers and
 * character sets, and reads the text of HTML parts. Other text stays as it is. Every line stays a
 * line; the lines of a base64 part are ended by carriage returns within its first ones.
 */
export class MailReader {
  readonly #onUnread: OnUnread;
  readonly #depth: number;
  readonly #boundaries = new Set<string>();
  /** Line ends read so far. */
  #line = 0;
  /** Its fields that say how a part is encoded, whole lines. */
  #header: string[] | null = null;
  /** Whether the last field is one of these; null before the first field. */
  #isOfPart: boolean | null = null;
  #mayBegin = true;
  #body: Body | null = null;

  constructor(onUnread: OnUnread, depth = 0) {
    this.#onUnread = onUnread;
    this.#depth = depth;
  }

  /** @param piece whole lines; the last piece may lack its line end */
  read(piece: string): string {
    if (this.#header === null && this.#body === null && !mayBeMail.test(piece)) {
      this.#mayBegin = true;
      for (let at = piece.indexOf("\n"); at >= 0; at = piece.indexOf("\n", at + 1)) this.#line += 1;
      return piece;
    }
    let text = "";
    for (let at = 0; at < piece.length;) {
      const start = this.#skipText(piece, at);
      text += piece.slice(at, start);
      at = start;
      const end = piece.indexOf("\n", at) + 1 || piece.length;
      text += this.#readLine(piece.slice(at, end));
      this.#line += 1;
      at = end;
    }
    return text;
  }

  end(): string {
    const text = this.#body?.end() ?? "";
    this.#body = null;
    return text;
  }

  /** Where, behind text that is neither of a header nor encoded, a line may begin either. */
  #skipText(piece: string, from: number): number {
    let at = from;
    if (this.#header !== null || this.#body !== null) return at;
    while (at < piece.length && !this.#mayBegin && !divider.test(piece.slice(at, at + 5))) {
      const end = piece.indexOf("\n", at) + 1 || piece.length;
      this.#mayBegin = isBlank(piece, at, end);
      this.#line += 1;
      at = end;
    }
    return at;
  }

  #readLine(line: string): string {
    if (this.#isBoundary(line) || envelope.test(line)) return this.#beginHeader(line);
    if (this.#header !== null) return this.#readHeader(line, this.#header);
    if (this.#body !== null) {
      const text = this.#body.read(line);
      if (text !== null) return text;
      return this.end() + this.#readLine(line);
    }
    if (this.#mayBegin && field.test(line)) {
      return this.#readHeader(line, (this.#header = []));
    }
    this.#mayBegin = isBlank(line, 0, line.length);
    return line;
  }

  #isBoundary(line: string): boolean {
    if (!line.startsWith("--")) return false;
    const bare = line.trimEnd();
    return this.#boundaries.has(bare.slice(2)) || this.#boundaries.has(bare.slice(2, -2));
  }

  #beginHeader(line: string): string {
    const text = this.end();
    this.#header = [];
    return text + line;
  }

  #readHeader(line: string, header: string[]): string {
    const isField = field.test(line);
    if (isField || (continuation.test(line) && this.#isOfPart !== null)) {
      if (isField) this.#isOfPart = ofPart.test(line);
      if (this.#isOfPart === true && header.length < mostFields) header.push(line.trimEnd());
      return withoutEncodedWords(line);
    }
    this.#header = null;
    this.#isOfPart = null;
    this.#mayBegin = isBlank(line, 0, line.length);
    if (this.#mayBegin && header.length > 0) this.#beginBody(partOf(header, this.#line + 2));
    return line;
  }

  #beginBody({ boundary, ...part }: Part & { readonly boundary: string | null }): void {
    if (boundary !== null) this.#boundaries.add(boundary);
    else if (part.type !== "message/rfc822" || part.encoding === "base64") {
      this.#body = this.#bodyOf(part);
    }
  }

  #bodyOf(part: Part): Body | null {
    const what = `part ${part.name || part.type || "text/plain"}`;
    const onUnread = (reason: string): void => {
      this.#onUnread(`${what} not read: ${reason}`, part.line);
    };
    const decoder = decoderOf(part.charset, () => {
      this.#onUnread(`${what} read as Latin-1: unknown character set ${part.charset}`, part.line);
    });
    switch (part.encoding) {
      case "base64":
        return new Base64Body(decoder, onUnread, () => this.#textOf(part));
      case "quoted-printable":
        return new QuotedBody(decoder, this.#textOf(part));
      case "":
      case "7bit":
      case "8bit":
      case "binary":
        return part.type === "text/html" || decoder !== null
          ? new PlainBody(decoder, this.#textOf(part))
          : null;
      default:
        onUnread(`unknown encoding ${part.encoding}`);
        return null;
    }
  }

  /** Reads the decoded text of a part. */
  #textOf({ type }: Part): TextReader {
    if (type === "text/html") return new MarkupReader();
    if (this.#depth >= mostNested) return plainText;
    return new MailReader((part) => this.#onUnread(part, this.#line + 1), this.#depth + 1);
  }
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && (code < 0x09 || code > 0x0d)) return false;
  }
  return true;
}

const plainText: TextReader = { read: (text) => text, end: () => "" };
/** Of a longer header, or of text that looks like one. */
const mostFields = 1000;

function partOf(
  header: readonly string[],
  line: number,
): Part & { readonly boundary: string | null } {
  const fields = header
    .join("\n")
    .replaceAll(/\n[ \t]+/g, " ")
    .split("\n");
  const valueOf = (name: string): string =>
    fields
      .find((text) => text.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? "";
  const parameter = (value: string, name: string): string | null =>
    new RegExp(`;\\s*${name}\\*?\\s*=\\s*(?:"([^"]*)"|([^\\s;]+))`, "i")
      .exec(value)
      ?.slice(1)
      .find((group) => group !== undefined) ?? null;
  const content = valueOf("content-type");
  const type = /^[^\s;]*/.exec(content)![0].toLowerCase();
  return {
    line,
    type,
    charset: (parameter(content, "charset") ?? "").toLowerCase(),
    encoding: /^[^\s;(]*/.exec(valueOf("content-transfer-encoding"))![0].toLowerCase(),
    name: parameter(valueOf("content-disposition"), "filename") ?? parameter(content, "name") ?? "",
    boundary: type.startsWith("multipart/") ? parameter(content, "boundary") : null,
  };
}

/** Null for UTF-8 and ASCII, which most parts and all other text are. */
function decoderOf(charset: string, onUnknown: () => void): TextDecoder | null {
  if (/^(?:|utf-?8|us-ascii|ascii|x?-?unknown.*)$/.test(charset)) return null;
  try {
    return new TextDecoder(charset);
  } catch {
    onUnknown();
    return new TextDecoder("latin1");
  }
}

const encodedWord = /=\?([\w-]+)(?:\*[\w-]*)?\?([bq])\?([^?\s]*)\?=(?:[ \t]+(?==\?))?/gi;

/** RFC 2047. */
function withoutEncodedWords(line: string): string {
  if (!line.includes("=?")) return line;
  return line.replaceAll(encodedWord, (word, charset: string, encoding: string, text: string) => {
    const bytes =
      encoding.toLowerCase() === "b"
        ? Buffer.from(text, "base64")
        : quotedBytes(text.replaceAll("_", " "));
    const decoder = decoderOf(charset.toLowerCase(), () => {}) ?? new TextDecoder();
    return decoder.decode(bytes).replaceAll(/[\r\n]/g, " ") || word;
  });
}

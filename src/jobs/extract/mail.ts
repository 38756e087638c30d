import { TextDecoder } from "node:util";
import { detached, encodeText } from "../../core/bytes.js";
import { countLineEnds } from "../../io/formats/reading/sample.js";
import { binaryKind } from "../../io/input/decode.js";
import { markupReader, type TextReader } from "./markup.js";

/** Called with what is not read, or read as something else, and the line where it begins. */
type OnUnread = (what: string, line: number) => void;

/** Decodes whole lines of a body; null if they turn out not to be text. */
type Decode = (lines: string) => string | null;

interface Body {
  readonly decode: Decode;
  readonly part: Part;
  readonly onUnread: (what: string) => void;
  text: TextReader | null;
  /** Whether its lines are encoded, and decoded together. */
  isHeld: boolean;
  held: string;
}

type Part = ReturnType<typeof partOf>;

/** The first field of a header that says how a part is encoded. */
const fieldOfPart = /ontent-(?:type|transfer-encoding):/gi;
const headerLines = /(?:(?:[\w-]+:|[ \t]+\S)[^\n]*\n)*/y;
const blankLine = /[ \t]*\r?(?:\n|$)/y;
const longestHeader = 64 * 1024;
/** Lines that may end a body. */
const divider = /^(?:--|From )[^\n]*/gm;
const envelope = /^From \S+ .*\d{4}\s*$/;
/** What ends base64: a foreign character, or anything but white space after a blank or `=`. */
const notBase64 = /[^A-Za-z\d+/= \t\r\n]|[ \t](?=[^ \t\r\n])|=(?=[A-Za-z\d+/])/g;
const mostNested = 8;

/**
 * Reads mails, also in a mailbox or another text: decodes quoted-printable and base64, headers and
 * character sets, and reads the text of HTML parts. Other text stays as it is. Every line stays a
 * line; the lines of a base64 part are ended by carriage returns before its own line ends.
 */
export class MailReader implements TextReader {
  readonly #onUnread: OnUnread;
  readonly #depth: number;
  readonly #boundaries = new Set<string>();
  /** Line ends before the text at hand. */
  #line = 0;
  /** A header whose end has not been read yet. */
  #rest = "";
  #body: Body | null = null;

  constructor(onUnread: OnUnread, depth = 0) {
    this.#onUnread = onUnread;
    this.#depth = depth;
  }

  read(piece: string): string {
    const mail = this.#rest + piece;
    this.#rest = "";
    let text = "";
    let at = 0;
    for (;;) {
      if (this.#body !== null) {
        const end = this.#endOfBody(mail, at);
        text += this.#readBody(this.#body, mail.slice(at, end < 0 ? mail.length : end), end >= 0);
        if (end < 0) at = mail.length;
        else {
          this.#body = null;
          at = end;
        }
      }
      const begin = this.#beginOfBody(mail, at);
      if (begin < 0) break;
      text += withoutEncodedWords(mail.slice(at, begin));
      at = begin;
    }
    const end = mail.length - this.#rest.length;
    this.#line += countLineEnds(mail.slice(0, end), "lf");
    return text + withoutEncodedWords(mail.slice(at, end));
  }

  end(): string {
    const text = this.#body === null ? this.#rest : this.#readBody(this.#body, "", true);
    this.#rest = "";
    this.#body = null;
    return text;
  }

  /** Where the next encoded body begins; -1 if there is none. Keeps a header without an end. */
  #beginOfBody(mail: string, from: number): number {
    fieldOfPart.lastIndex = from;
    for (let found = fieldOfPart.exec(mail); found !== null; found = fieldOfPart.exec(mail)) {
      const start = found.index - 1;
      if (start > 0 && mail.charCodeAt(start - 1) !== lineFeed) continue;
      headerLines.lastIndex = start;
      headerLines.test(mail);
      const end = headerLines.lastIndex;
      blankLine.lastIndex = end;
      const isHeader = blankLine.test(mail);
      if (end === mail.length || !mail.includes("\n", end)) {
        if (mail.length - start < longestHeader) this.#rest = mail.slice(start);
        return -1;
      }
      if (isHeader) {
        const begin = blankLine.lastIndex;
        if (this.#beginBody(partOf(mail.slice(start, end)), mail, begin)) return begin;
      }
      fieldOfPart.lastIndex = Math.max(end, fieldOfPart.lastIndex);
    }
    return -1;
  }

  #beginBody(part: Part, mail: string, begin: number): boolean {
    if (part.boundary !== null) this.#boundaries.add(detached(part.boundary));
    else if (part.type !== "message/rfc822" || part.encoding === "base64") {
      const before = this.#line;
      const onUnread = (what: string): void => {
        this.#onUnread(what, before + countLineEnds(mail.slice(0, begin), "lf") + 1);
      };
      const decode = decodeOf(part, onUnread, mail.slice(begin, begin + longestHeader));
      const isHeld = part.encoding === "base64" || part.encoding === "quoted-printable";
      this.#body =
        decode === null ? null : { decode, part, onUnread, text: null, isHeld, held: "" };
    }
    return this.#body !== null;
  }

  /** Where the line begins that ends the body; -1 if there is none yet. */
  #endOfBody(mail: string, from: number): number {
    if (this.#body?.part.encoding === "base64") {
      notBase64.lastIndex = from;
      const found = notBase64.exec(mail);
      return found === null ? -1 : Math.max(from, mail.lastIndexOf("\n", found.index) + 1);
    }
    divider.lastIndex = from;
    for (let found = divider.exec(mail); found !== null; found = divider.exec(mail)) {
      const bare = found[0].trimEnd();
      const isBoundary = [bare.slice(2), bare.slice(2, -2)].some((b) => this.#boundaries.has(b));
      if (isBoundary || envelope.test(bare)) return found.index;
    }
    return -1;
  }

  #readBody(body: Body, piece: string, isLast: boolean): string {
    const lines = body.held + piece;
    body.held = body.isHeld && !isLast && lines.length < longestHeld ? lines : "";
    if (body.held !== "") return "";
    const decoded = body.decode(lines);
    if (decoded === null) Object.assign(body, { isHeld: false, decode: () => "" });
    body.text ??= this.#textOf(body, decoded ?? "");
    const text = body.text.read(decoded ?? "") + (isLast ? body.text.end() : "");
    if (body.part.encoding !== "base64") return text;
    return text.replaceAll(/\r?\n/g, "\r") + "\n".repeat(countLineEnds(lines, "lf"));
  }

  /** Reads the decoded text of a part. */
  #textOf({ part, onUnread }: Body, head: string): TextReader {
    const markup = markupReader(head, part.type);
    if (markup !== null) return markup;
    return part.type === "message/rfc822" && this.#depth < mostNested
      ? new MailReader(onUnread, this.#depth + 1)
      : { read: (text) => text, end: () => "" };
  }
}

/** Null for a part that is left as it is, or not read. */
function decodeOf(part: Part, onUnread: (what: string) => void, body: string): Decode | null {
  const what = `part ${part.name || part.type || "text/plain"}`;
  const refuse = (reason: string): null => {
    onUnread(`${what} not read: ${reason}`);
    return null;
  };
  const decoder = decoderOf(part.charset, () => {
    onUnread(`${what} read as Latin-1: unknown character set ${part.charset}`);
  });
  switch (part.encoding) {
    case "base64":
      return /^\s*(?:[A-Za-z\d+/]+=*[ \t]*\r?(?:\n|$)|$)/.test(body)
        ? (lines) => base64Text(lines, decoder ?? new TextDecoder(), refuse)
        : refuse("not base64");
    case "quoted-printable":
      return (lines) => (decoder ?? new TextDecoder()).decode(quotedBytes(lines));
    case "":
    case "7bit":
    case "8bit":
    case "binary":
      if (decoder !== null) return (lines) => decoder.decode(encodeText(lines));
      return part.type === "text/html" ? (lines) => lines : null;
    default:
      return refuse(`unknown encoding ${part.encoding}`);
  }
}

const lineFeed = 0x0a;
const longestHeld = 16 * 1024 * 1024;

/**
 * The bytes of quoted-printable lines. Every line stays a line: those that `=` continues are ended behind
 * their last one. Line ends within a line become carriage returns.
 */
function quotedBytes(lines: string): Buffer {
  const bytes = encodeText(lines);
  let length = 0;
  let continued = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === lineFeed) for (; continued > 0; continued--) bytes[length++] = lineFeed;
    bytes[length++] = byte;
    if (byte !== equalsSign) continue;
    const code = valueOf[bytes[at + 1] ?? 0]! * 16 + valueOf[bytes[at + 2] ?? 0]!;
    if (code >= 0) {
      bytes[length - 1] = code === lineFeed ? carriageReturn : code;
      at += 2;
      continue;
    }
    let end = at + 1;
    while (blanks.has(bytes[end])) end++;
    if (bytes[end] !== lineFeed) continue;
    continued++;
    length--;
    at = end;
  }
  return bytes.fill(lineFeed, length, length + continued).subarray(0, length + continued);
}

const equalsSign = 0x3d;
const carriageReturn = 0x0d;
const blanks: ReadonlySet<number | undefined> = new Set([0x09, 0x20, carriageReturn]);
/** Values of hexadecimal digits by their codes; negative for other characters. */
const valueOf = new Int16Array(256).fill(-256);
for (const [value, digit] of Buffer.from("0123456789abcdef").entries()) valueOf[digit] = value;
for (const [value, digit] of Buffer.from("ABCDEF").entries()) valueOf[digit] = 10 + value;

function base64Text(lines: string, decoder: TextDecoder, refuse: (reason: string) => null) {
  // Some programs pad each piece, and the first padding would end the text.
  const pieces = lines.split(/=+/).map((piece) => Buffer.from(piece, "base64"));
  const bytes = Buffer.concat(pieces);
  const kind = decoder.encoding.startsWith("utf-16") ? null : binaryKind(bytes);
  return kind === null ? decoder.decode(bytes) : refuse(kind);
}

function partOf(header: string) {
  const unfolded = header.replaceAll(/\r?\n[ \t]+/g, " ");
  const content = valueIn(unfolded, fields.type) ?? "";
  const type = /^[^\s;]*/.exec(content)![0].toLowerCase();
  const encoding = valueIn(unfolded, fields.encoding) ?? "";
  const fileName = valueIn(valueIn(unfolded, fields.disposition) ?? "", parameters.filename);
  return {
    type,
    charset: (valueIn(content, parameters.charset) ?? "").toLowerCase(),
    encoding: /^[^\s;(]*/.exec(encoding)![0].toLowerCase(),
    name: fileName ?? valueIn(content, parameters.name) ?? "",
    boundary: type.startsWith("multipart/") ? valueIn(content, parameters.boundary) : null,
  };
}

/** The first of several fields counts. */
const fields = {
  type: /^content-type:[ \t]*(.*)/im,
  encoding: /^content-transfer-encoding:[ \t]*(.*)/im,
  disposition: /^content-disposition:(.*)/im,
};
const parameters = {
  boundary: /;\s*boundary\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))/i,
  charset: /;\s*charset\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))/i,
  filename: /;\s*filename\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))/i,
  name: /;\s*name\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))/i,
};

function valueIn(text: string, pattern: RegExp): string | null {
  const found = pattern.exec(text);
  return found?.[1] ?? found?.[2] ?? null;
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
function withoutEncodedWords(text: string): string {
  if (!text.includes("=?")) return text;
  return text.replaceAll(encodedWord, (word, charset: string, encoding: string, coded: string) => {
    const isBase64 = encoding.toLowerCase() === "b";
    const bytes = isBase64 ? Buffer.from(coded, "base64") : quotedBytes(coded.replaceAll("_", " "));
    const decoder = decoderOf(charset.toLowerCase(), () => {}) ?? new TextDecoder();
    return decoder.decode(bytes).replaceAll(/[\r\n]/g, " ") || word;
  });
}

import { TextDecoder } from "node:util";
import { detached, encodeText } from "../../core/bytes.js";
import { countLineEnds } from "../../io/formats/reading/sample.js";
import { binaryKind } from "../../io/input/decode.js";
import { heldReader, markupReader, type TextReader } from "./markup.js";

/** Called with what is not read, or read as something else, and the line where it begins. */
type OnUnread = (what: string, line: number) => void;

/** The first field of a header that says how a part is encoded. */
const fieldOfPart = /ontent-(?:type|transfer-encoding):/gi;
/** The rest of a header, and the blank line behind it. */
const headerLines = /(?:(?:[\w-]+:|[ \t]+\S)[^\n]*\n)*([ \t]*\r?(?:\n|$))?/y;
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
  /** Line ends read so far. */
  #line = 0;
  /** A header whose end has not been read yet. */
  #rest = "";
  #body: (TextReader & { readonly isBase64: boolean }) | null = null;

  constructor(onUnread: OnUnread, depth = 0) {
    this.#onUnread = onUnread;
    this.#depth = depth;
  }

  read(piece: string): string {
    const mail = this.#rest + piece;
    this.#rest = "";
    let text = "";
    let at = 0;
    const linesTo = (end: number): string => {
      const lines = mail.slice(at, end);
      this.#line += countLineEnds(lines, "lf");
      at = end;
      return lines;
    };
    for (;;) {
      if (this.#body !== null) {
        const end = this.#endOfBody(this.#body.isBase64, mail, at);
        text += this.#body.read(linesTo(end < 0 ? mail.length : end));
        if (end < 0) return text;
        text += this.end();
      }
      const header = this.#nextHeader(mail, at);
      const lines = linesTo(header?.end ?? mail.length - this.#rest.length);
      text += withoutEncodedWords(lines);
      if (header === null) return text;
      this.#beginBody(partOf(header.text), mail.slice(at, at + longestHeader));
    }
  }

  end(): string {
    const text = this.#body === null ? this.#rest : this.#body.end();
    this.#rest = "";
    this.#body = null;
    return text;
  }

  /** The next header of a part, and its end; null if there is none. Keeps one without an end. */
  #nextHeader(mail: string, from: number): { readonly text: string; readonly end: number } | null {
    fieldOfPart.lastIndex = from;
    for (let found = fieldOfPart.exec(mail); found !== null; found = fieldOfPart.exec(mail)) {
      const start = found.index - 1;
      if (start > 0 && mail.charAt(start - 1) !== "\n") continue;
      headerLines.lastIndex = start;
      const [text, blankLine] = headerLines.exec(mail)!;
      const end = start + text.length;
      const lineAfter = end - (blankLine?.length ?? 0);
      if (lineAfter === mail.length || !mail.includes("\n", lineAfter)) {
        if (mail.length - start < longestHeader) this.#rest = mail.slice(start);
        return null;
      }
      if (blankLine !== undefined) return { text, end };
      fieldOfPart.lastIndex = Math.max(end, fieldOfPart.lastIndex);
    }
    return null;
  }

  /** Leaves parts as they are that are not encoded, or not readable. */
  #beginBody(part: Part, head: string): void {
    const { type, encoding, boundary } = part;
    const isBase64 = encoding === "base64";
    if (boundary !== null) this.#boundaries.add(detached(boundary));
    else if (type !== "message/rfc822" || isBase64) {
      const line = this.#line + 1;
      const decode = decodeOf(part, head, (what) => {
        this.#onUnread(`part ${part.name || type || "text/plain"} ${what}`, line);
      });
      const isMail = type === "message/rfc822" && this.#depth < mostNested;
      const readerOf = (text: string): TextReader =>
        markupReader(text, type) ??
        (isMail
          ? new MailReader((what) => this.#onUnread(what, line), this.#depth + 1)
          : { read: (lines) => lines, end: () => "" });
      if (decode !== null) this.#body = { isBase64, ...bodyReader(isBase64, decode, readerOf) };
    }
  }

  /** Where the line begins that ends the body; -1 if there is none yet. */
  #endOfBody(isBase64: boolean, mail: string, from: number): number {
    if (isBase64) {
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
}

/** Reads the body of a part, decoded as a whole. The line ends of base64 follow its text. */
function bodyReader(
  isBase64: boolean,
  decode: Decode,
  readerOf: (head: string) => TextReader,
): TextReader {
  let isText = true;
  return heldReader((lines) => {
    const decoded = isText ? decode(lines) : "";
    isText = decoded !== null;
    const reader = readerOf(decoded ?? "");
    const text = reader.read(decoded ?? "") + reader.end();
    const ends = "\n".repeat(countLineEnds(lines, "lf"));
    return isBase64 ? text.replaceAll(/\r?\n/g, "\r") + ends : text;
  });
}

/** Decodes lines of a body; null if they turn out not to be text. */
type Decode = (lines: string) => string | null;

/** Null for a part that is left as it is, or not read. */
function decodeOf(part: Part, head: string, onUnread: (what: string) => void): Decode | null {
  const { encoding, charset } = part;
  const refuse = (reason: string): null => {
    onUnread(`not read: ${reason}`);
    return null;
  };
  const decoder = decoderOf(charset, () => {
    onUnread(`read as Latin-1: unknown character set ${charset}`);
  });
  switch (encoding) {
    case "base64":
      return /^\s*(?:[A-Za-z\d+/]+=*[ \t]*\r?(?:\n|$)|$)/.test(head)
        ? (lines) => base64Text(lines, decoder, refuse)
        : refuse("not base64");
    case "quoted-printable":
      return (lines) => decoder.decode(quotedBytes(lines));
    case "":
    case "7bit":
    case "8bit":
    case "binary":
      if (decoder.encoding !== "utf-8") return (lines) => decoder.decode(encodeText(lines));
      return part.type === "text/html" ? (lines) => lines : null;
    default:
      return refuse(`unknown encoding ${encoding}`);
  }
}

/**
 * The bytes of quoted-printable lines. Every line stays a line: those that `=` continues are ended behind
 * their last one. Line ends within a line become carriage returns.
 */
function quotedBytes(lines: string): Buffer {
  const whole = encodeText(lines).toString("latin1").split("\n");
  const last = whole.pop() ?? "";
  let text = "";
  let ends = "";
  for (const line of whole) {
    const bare = line.replace(softBreak, "");
    text += bare.replaceAll(quotedByte, byteOf);
    ends += "\n";
    if (bare !== line) continue;
    text += ends;
    ends = "";
  }
  return Buffer.from(text + last.replaceAll(quotedByte, byteOf) + ends, "latin1");
}

const softBreak = /=[ \t\r]*$/;
const quotedByte = /=([\dA-Fa-f]{2})/g;

function byteOf(_: string, digits: string): string {
  const byte = String.fromCharCode(Number.parseInt(digits, 16));
  return byte === "\n" ? "\r" : byte;
}

function base64Text(lines: string, decoder: TextDecoder, refuse: (reason: string) => null) {
  // Some programs pad each piece, and the first padding would end the text.
  const pieces = lines.split(/=+/).map((piece) => Buffer.from(piece, "base64"));
  const bytes = Buffer.concat(pieces);
  const kind = decoder.encoding.startsWith("utf-16") ? null : binaryKind(bytes);
  return kind === null ? decoder.decode(bytes) : refuse(kind);
}

type Part = ReturnType<typeof partOf>;

function partOf(header: string) {
  const unfolded = header.replaceAll(/\r?\n[ \t]+/g, " ");
  /** The first of several fields counts. */
  const field = (name: string): string =>
    new RegExp(`^content-${name}:[ \\t]*(.*)`, "im").exec(unfolded)?.[1] ?? "";
  const content = field("type");
  const type = /^[^\s;]*/.exec(content)![0].toLowerCase();
  const encoding = /^[^\s;(]*/.exec(field("transfer-encoding"))![0].toLowerCase();
  const fileName = parameterIn(field("disposition"), "filename");
  return {
    type,
    charset: (parameterIn(content, "charset") ?? "").toLowerCase(),
    encoding,
    name: fileName ?? parameterIn(content, "name") ?? "",
    boundary: type.startsWith("multipart/") ? parameterIn(content, "boundary") : null,
  };
}

function parameterIn(field: string, name: string): string | null {
  const value = String.raw`;\s*${name}\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))`;
  const found = new RegExp(value, "i").exec(field);
  return found?.[1] ?? found?.[2] ?? null;
}

/** UTF-8 without a character set: most parts have it. Unknown ones are taken for Latin-1. */
function decoderOf(charset: string, onUnknown = (): void => {}): TextDecoder {
  if (/^(?:|us-ascii|ascii|x?-?unknown.*)$/.test(charset)) return new TextDecoder();
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
    const decoded = decoderOf(charset.toLowerCase()).decode(bytes);
    return decoded.replaceAll(/[\r\n]/g, " ") || word;
  });
}

import { TextDecoder } from "node:util";
import { encodeText } from "../../core/bytes.js";
import { binaryKind } from "../../io/input/refuse-binary.js";
import { isMarkup, MarkupReader } from "./markup.js";

/** Reads the lines of a body into text. Every line stays a line. */
export interface Body {
  /** The text of a line, with or without its end; null if the line is not of this body. */
  read(line: string): string | null;
  end(): string;
}

export /** Reads text in pieces. */
interface TextReader {
  read(text: string): string;
  end(): string;
}

/** 7bit and 8bit: what the transport did not change. */
export class PlainBody implements Body {
  readonly #decoder: TextDecoder | null;
  readonly #text: TextReader;

  constructor(decoder: TextDecoder | null, text: TextReader) {
    this.#decoder = decoder;
    this.#text = text;
  }

  read(line: string): string {
    return this.#text.read(this.#decoder === null ? line : this.#decoder.decode(encodeText(line)));
  }

  end(): string {
    return this.#text.end();
  }
}

/** A line that a `=` continues is given with the one that it continues. */
export class QuotedBody implements Body {
  readonly #decoder: TextDecoder;
  readonly #text: TextReader;
  #line = "";
  #ends = "";

  constructor(decoder: TextDecoder | null, text: TextReader) {
    this.#decoder = decoder ?? new TextDecoder();
    this.#text = text;
  }

  read(line: string): string {
    const continued = /=[ \t]*\r?\n$/.exec(line);
    this.#line += continued === null ? line : line.slice(0, continued.index);
    if (continued !== null) this.#ends += "\n";
    return continued !== null && this.#line.length < longestLine ? "" : this.#flush();
  }

  end(): string {
    return this.#flush() + this.#text.end();
  }

  #flush(): string {
    const end = lineEndOf(this.#line);
    const line = end === "" ? this.#line : this.#line.slice(0, -1);
    const text = this.#decoder.decode(quotedBytes(line)).replaceAll("\n", "\r") + end;
    const ends = this.#ends;
    this.#line = "";
    this.#ends = "";
    return this.#text.read(text) + ends;
  }
}

const longestLine = 1024 * 1024;

export function quotedBytes(line: string): Buffer {
  const latin = encodeText(line).toString("latin1");
  const plain = latin.replaceAll(/=([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, "latin1");
}

/** Text that is decoded in slices; what turns out not to be text is left out. */
export class Base64Body implements Body {
  readonly #decoder: TextDecoder;
  readonly #onUnread: (reason: string) => void;
  readonly #textOf: () => TextReader;
  #text: TextReader | null = null;
  #isRead = true;
  #isEmpty = true;
  #digits: string[] = [];
  #length = 0;
  #ends = "";
  #rest = "";

  constructor(
    decoder: TextDecoder | null,
    onUnread: (reason: string) => void,
    textOf: () => TextReader,
  ) {
    this.#decoder = decoder ?? new TextDecoder();
    this.#onUnread = onUnread;
    this.#textOf = textOf;
  }

  read(line: string): string | null {
    const digits = line.trim();
    if (!/^[A-Za-z\d+/]*=*$/.test(digits)) {
      if (this.#isEmpty) this.#onUnread("not base64");
      return null;
    }
    this.#isEmpty &&= digits === "";
    this.#ends += lineEndOf(line);
    if (this.#isRead) this.#digits.push(digits);
    this.#length += line.length;
    return this.#length < sliceLength ? "" : this.#flush(false);
  }

  end(): string {
    return this.#flush(true);
  }

  /** The text of the lines read since the last time, followed by their ends. */
  #flush(isLast: boolean): string {
    const digits = this.#digits.join("").replaceAll("=", "");
    const whole = isLast ? digits.length : digits.length - (digits.length % 4);
    const ends = this.#ends;
    this.#digits = [digits.slice(whole)];
    this.#length = 0;
    this.#ends = "";
    const bytes = Buffer.from(digits.slice(0, whole), "base64");
    const text = this.#isRead ? withoutLineEnds(this.#decode(bytes, isLast)) : "";
    return text + ends;
  }

  #decode(bytes: Buffer, isLast: boolean): string {
    if (this.#text === null && bytes.length > 0) {
      const kind = this.#decoder.encoding.startsWith("utf-16") ? null : binaryKind(bytes);
      if (kind !== null) {
        this.#isRead = false;
        this.#onUnread(kind);
        return "";
      }
    }
    const text = this.#rest + this.#decoder.decode(bytes, { stream: !isLast });
    const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    this.#text ??= isMarkup(text) ? new MarkupReader() : this.#textOf();
    return this.#text.read(text.slice(0, end)) + (isLast ? this.#text.end() : "");
  }
}

const sliceLength = 256 * 1024;

function lineEndOf(line: string): string {
  return line.endsWith("\n") ? "\n" : "";
}

/** The lines of a base64 part are not those of the file. */
function withoutLineEnds(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r");
}

import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { TerminalStream } from "../command.js";

/**
 * A terminal on which data cannot steer anything: control and bidirectional characters are shown as
 * `<U+001B>`. Files and pipes get their data as it is.
 */
export class TerminalOutput extends Writable implements TerminalStream {
  readonly isTTY = true;
  readonly #terminal: TerminalStream;
  readonly #decoder = new StringDecoder();
  /** A carriage return at the end of the last chunk: a line feed may follow. */
  #held = "";

  constructor(terminal: TerminalStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  /** Width in columns; 0 where the terminal does not tell. */
  get columns(): number {
    return this.#terminal.columns ?? 0;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#held + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#held = text.endsWith("\r") ? "\r" : "";
    const whole = text.slice(0, text.length - this.#held.length);
    // A fault of the terminal is told by its own `error` event.
    if (this.#terminal.write(printableData(whole))) done();
    else this.#terminal.once("drain", done);
  }
}

/** The stream itself, or a safe one in its place where it is a terminal. */
export function safeOnTerminal(stream: TerminalStream): TerminalStream {
  return stream.isTTY === true ? new TerminalOutput(stream) : stream;
}

/**
 * Characters that steer a terminal (C0, DEL and C1 controls, ESC among them) or reorder what it
 * shows (bidirectional controls, UAX #9; line and paragraph separators). Not the line feed.
 */
const steering =
  "\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069";

const inText = new RegExp(`[${steering}]`, "g");
const inData = new RegExp(`(?!\\t|\\r\\n)[${steering}]`, "g");

/**
 * Makes a text of other people safe to show in a message or a cell: what would steer the terminal
 * stands there as `<U+202E>`, a tab as a space.
 */
export function printable(text: string): string {
  return text.replaceAll("\t", " ").replaceAll(inText, codePoint);
}

/** The same for rows that go to a terminal: tabs and line ends are theirs. */
export function printableData(text: string): string {
  return text.replaceAll(inData, codePoint);
}

function codePoint(character: string): string {
  return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

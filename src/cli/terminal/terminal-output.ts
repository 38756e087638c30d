import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableData } from "../../core/printable.js";
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

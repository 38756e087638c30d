import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableData } from "../../core/wording/printable.js";

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** A terminal that data cannot control: control and bidirectional characters print as `<U+001B>`. */
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

  get columns(): number {
    return this.#terminal.columns ?? 0;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#held + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#held = text.endsWith("\r") ? "\r" : "";
    const whole = text.slice(0, text.length - this.#held.length);
    // Errors surface as `error` events of the terminal itself.
    if (this.#terminal.write(printableData(whole))) done();
    else this.#terminal.once("drain", done);
  }
}

export function safeOnTerminal(stream: TerminalStream): TerminalStream {
  return stream.isTTY === true ? new TerminalOutput(stream) : stream;
}

import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableData } from "../../core/text/printable.js";

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** A terminal that data cannot control: control and bidirectional characters print as `<U+001B>`. */
export class TerminalOutput extends Writable implements TerminalStream {
  readonly isTTY = true;
  readonly #terminal: TerminalStream;
  readonly #decoder = new StringDecoder();
  /** Chunks to pass on as they are. */
  readonly #escaped = new WeakSet<Buffer>();
  /** A carriage return at the end of the last chunk: a line feed may follow. */
  #held = "";

  constructor(terminal: TerminalStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns ?? 0;
  }

  /** Writes text that is already escaped and may contain colours. */
  writeEscaped(text: string): boolean {
    const chunk = Buffer.from(text);
    this.#escaped.add(chunk);
    return this.write(chunk);
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    if (typeof chunk !== "string" && this.#escaped.has(chunk)) {
      this.#pass(chunk.toString(), done);
      return;
    }
    const text = this.#held + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#held = text.endsWith("\r") ? "\r" : "";
    const whole = text.slice(0, text.length - this.#held.length);
    this.#pass(printableData(whole), done);
  }

  #pass(text: string, done: () => void): void {
    // Errors surface as `error` events of the terminal itself.
    if (this.#terminal.write(text)) done();
    else this.#terminal.once("drain", done);
  }
}

export function safeOnTerminal(stream: TerminalStream): TerminalStream {
  return stream.isTTY === true ? new TerminalOutput(stream) : stream;
}

/** Writes text to stdout, escape sequences of the paint included. All else must be escaped. */
export function writePainted(stdout: TerminalStream, text: string): void {
  if (stdout instanceof TerminalOutput) stdout.writeEscaped(text);
  else stdout.write(text);
}

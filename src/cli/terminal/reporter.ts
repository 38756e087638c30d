import { printable } from "./terminal-output.js";
import { redactAddress } from "../options/redact.js";
import type { TerminalStream } from "../command.js";

/** Everything but data: warnings, the progress line and the summary, on stderr. */
export class Reporter {
  readonly #stream: TerminalStream;
  readonly #warned = new Set<string>();
  #line = "";
  #status: (() => string) | null = null;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Width of the terminal in columns, 80 where it does not tell; null when stderr is none. */
  get width(): number | null {
    return this.#stream.isTTY === true ? this.#stream.columns || 80 : null;
  }

  /** Tells a warning; the same one only once. */
  warning(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.print(`repute: warning: ${message}`);
  }

  /** Prints whole lines above the progress line. */
  print(text: string): void {
    this.#stream.write(`${this.#erase()}${printable(redactAddress(text))}\n${this.#line}`);
  }

  /** Sets how `printStatus` describes what the program is doing; null for nothing to describe. */
  describe(status: (() => string) | null): void {
    this.#status = status;
  }

  /** Prints how far the program is. */
  printStatus(): void {
    this.print(`repute: ${this.#status?.() ?? "running, no progress to tell yet"}`);
  }

  /** Draws the progress line over the one before. It must fit in one line of the terminal. */
  draw(line: string): void {
    const shown = printable(line);
    this.#stream.write(this.#erase() + shown);
    this.#line = shown;
  }

  /** Takes the progress line away. */
  clear(): void {
    if (this.#line !== "") this.#stream.write(this.#erase());
    this.#line = "";
  }

  #erase(): string {
    // Return to the first column, erase to the end of the line (ECMA-48, EL).
    return this.#line === "" ? "" : "\r\u001B[K";
  }
}

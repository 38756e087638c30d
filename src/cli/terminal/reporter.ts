import { printable } from "../../core/printable.js";
import { redactAddress } from "../options/redact.js";
import type { TerminalStream } from "../command.js";
import { ReputeError, UsageError } from "../../core/errors.js";

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

export interface ErrorTextOptions {
  /** Name of the command, for the pointer to its help; null when none was recognised. */
  readonly command: string | null;
  /** Show where in the program the error arose. */
  readonly debug: boolean;
}

/** What a person is told about an error: what and where, what to do, and where help is. */
export function errorText(error: unknown, options: ErrorTextOptions): string {
  const lines = explain(error);
  if (error instanceof UsageError) {
    lines.push(`  see: repute ${options.command === null ? "" : `${options.command} `}--help`);
  }
  if (options.debug) lines.push(...stacks(error));
  return lines.join("\n");
}

function explain(error: unknown): string[] {
  if (error instanceof ReputeError) {
    const lines = error.message.split("\n").map((line) => `repute: ${line}`);
    return error.hint === null ? lines : [...lines, `  ${error.hint}`];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [
    `repute: unexpected error: ${message}`,
    "  this is a fault of repute itself; REPUTE_DEBUG=1 shows where it arose",
  ];
}

/** The stack of an error and of every error underneath. */
function stacks(error: unknown): string[] {
  const texts: string[] = [];
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    texts.push(inner.stack ?? inner.message);
  }
  return texts;
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
};

/** Why a file could not be read, in words. */
export function fileFault(error: unknown): string {
  const known = causes[(error as NodeJS.ErrnoException | null)?.code ?? ""];
  return known ?? (error instanceof Error ? error.message : String(error));
}

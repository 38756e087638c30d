import { printable } from "../../core/printable.js";
import { redactAddress } from "../options/redact.js";
import type { TerminalStream } from "../command.js";
import { serviceCodes } from "../../core/error-codes/service-codes.js";
import { EarlyEndError, InterruptedError, ReputeError, UsageError } from "../../core/errors.js";

/** Prints warnings, the progress line and the summary to stderr. */
export class Reporter {
  readonly #stream: TerminalStream;
  readonly #warned = new Set<string>();
  #line = "";
  #status: (() => string) | null = null;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Width of the terminal, 80 if unknown; null if stderr is not a terminal. */
  get width(): number | null {
    return this.#stream.isTTY === true ? this.#stream.columns || 80 : null;
  }

  /** Prints a warning once. */
  warning(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.print(`repute: warning: ${message}`);
  }

  /**
   * Prints whole lines above the progress line.
   *
   * @param paint adds colour once control characters are escaped
   */
  print(text: string, paint = (safe: string) => safe): void {
    const safe = paint(printable(redactAddress(text)));
    this.#stream.write(`${this.#erase()}${safe}\n${this.#line}`);
  }

  /** Sets the status text for `printStatus`; null for none. */
  describe(status: (() => string) | null): void {
    this.#status = status;
  }

  /** Prints the current status. */
  printStatus(): void {
    this.print(`repute: ${this.#status?.() ?? "running, no progress yet"}`);
  }

  /** Replaces the progress line. It must fit on one line of the terminal. */
  draw(line: string): void {
    const shown = printable(line);
    this.#stream.write(this.#erase() + shown);
    this.#line = shown;
  }

  /** Clears the progress line. */
  clear(): void {
    if (this.#line !== "") this.#stream.write(this.#erase());
    this.#line = "";
  }

  #erase(): string {
    // Carriage return, then erase to the end of the line (ECMA-48, EL).
    return this.#line === "" ? "" : "\r\u001B[K";
  }
}

export interface ErrorTextOptions {
  /** Command whose help to point to; null if unknown. */
  readonly command: string | null;
  /** Include stack traces. */
  readonly debug: boolean;
}

/** The message of an error, its hint, and where to find help. */
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
    // The code of a failed request is what JSON shows, and what docs/errors.md explains.
    const isOfService = error.code in serviceCodes || /^http_\d+$/.test(error.code);
    const isStop = error instanceof InterruptedError || error instanceof EarlyEndError;
    const code = isOfService && !isStop ? ` (${error.code})` : "";
    const lines = (error.message + code).split("\n").map((line) => `repute: ${line}`);
    return error.hint === null ? lines : [...lines, `  ${error.hint}`];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [
    `repute: unexpected error: ${message}`,
    "  this is a bug in repute; REPUTE_DEBUG=1 shows the stack trace",
  ];
}

/** The stacks of an error and its causes. */
function stacks(error: unknown): string[] {
  const texts: string[] = [];
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    texts.push(inner.stack ?? inner.message);
  }
  return texts;
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
};

/** Why a file could not be read. */
export function fileFault(error: unknown): string {
  const known = causes[(error as NodeJS.ErrnoException | null)?.code ?? ""];
  return known ?? (error instanceof Error ? error.message : String(error));
}

import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../../core/clock.js";
import { wrapLines, oneLine, printable } from "../../core/wording/printable.js";
import { systemFault } from "../../core/files/system-fault.js";
import { redactAddress } from "../../core/redaction.js";
import { serviceCodes } from "../../core/row-codes.js";
import { EarlyEndError, InterruptedError, ReputeError, UsageError } from "../../core/errors.js";

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export const logFormats = ["text", "json"] as const;

type LogFormat = (typeof logFormats)[number];

/** Members of a log line besides time, level, run and message. */
type LogFields = Readonly<Record<string, unknown>>;

type Level = "info" | "warning" | "error";

/** What a command is doing now, in one line of at most `width` characters. */
type Status = (width: number) => string;

/**
 * Time between two drawings of the line on a terminal, between two lines elsewhere, and after the last
 * of equal warnings before the next is printed: it may be about a second outage.
 */
const everyMs = { terminal: 250, log: 60_000, warning: 60_000 };

/** Prints warnings, the progress line and the summary to stderr, as text or as JSON lines. */
export class Reporter {
  /** Identifier of the run in log lines; null until there is one. */
  runId: string | null = null;
  format: LogFormat = "text";
  /** Whether only warnings and errors are printed. */
  isQuiet = false;
  readonly #stream: TerminalStream;
  readonly #clock: Pick<Clock, "now">;
  readonly #warned = new Map<string, number>();
  #line = "";
  #status: Status | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: TerminalStream, clock: Pick<Clock, "now"> = systemClock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Width of the terminal, 80 if unknown; null for JSON, and if stderr is not a terminal. */
  get width(): number | null {
    if (this.format === "json") return null;
    return this.#stream.isTTY === true ? this.#stream.columns || 80 : null;
  }

  warning(message: string): void {
    const now = this.#clock.now();
    const before = this.#warned.get(message) ?? -everyMs.warning;
    this.#warned.set(message, now);
    if (now - before < everyMs.warning) return;
    if (this.format === "json") this.log("warning", message);
    else this.print(`repute: warning: ${oneLine(message)}`);
  }

  readonly listener = {
    onNotice: (message: string): void => this.notice(message),
    onWarning: (message: string): void => this.warning(message),
  };

  /** Prints a message that is neither warning nor error, unless the command is quiet. */
  notice(message: string): void {
    if (!this.isQuiet) this.print(`repute: ${message}`);
  }

  /** Prints an error that does not end the command, such as a failed tag. */
  fault(message: string, hint: string | null, fields: LogFields = {}): void {
    if (this.format === "json") this.log("error", message, { ...fields, hint });
    else this.print(`repute: ${oneLine(message)}${hint === null ? "" : `\n  ${hint}`}`);
  }

  /** @param command the command to name in `see: repute … --help`; null if unknown */
  error(error: unknown, command: string | null): void {
    if (this.format === "text") {
      const text = errorText(error, command);
      if (!this.#warned.has(text)) this.print(text);
      this.#warned.set(text, this.#clock.now());
    } else this.log("error", messageOf(error), errorFields(error));
  }

  /** Prints whole lines above the progress line. */
  print(text: string): void {
    if (this.format === "json") return this.log("info", text.replaceAll(/^repute: /gm, ""));
    const shown = printable(redactAddress(text));
    const safe = this.width === null ? shown : wrapLines(shown, this.width);
    this.#stream.write(`${this.#erase()}${safe}\n${this.#line}`);
  }

  /** Writes a log line. `fields` override its own members. */
  log(level: Level, message: string, fields: LogFields = {}): void {
    const time = new Date(this.#clock.now()).toISOString();
    const line = { time, level, run_id: this.runId, message: redactAddress(message), ...fields };
    this.#stream.write(`${JSON.stringify(line)}\n`);
  }

  /**
   * Shows a status until the next one: as a line on a terminal, a line a minute elsewhere.
   *
   * @param mayDraw false if something else is written to the same terminal
   */
  follow(status: Status | null, mayDraw = true): void {
    clearInterval(this.#timer);
    this.clear();
    this.#status = status;
    if (status === null || this.isQuiet || (this.width !== null && !mayDraw)) return;
    this.#timer =
      this.width === null
        ? setInterval(() => this.print(`repute: ${status(Number.POSITIVE_INFINITY)}`), everyMs.log)
        : setInterval(() => this.#draw(), everyMs.terminal);
    this.#timer.unref();
  }

  /** Brings the progress line up to date, if there is one. */
  redraw(): void {
    if (this.#line !== "") this.#draw();
  }

  #draw(): void {
    // Some terminals wrap a full line.
    const room = (this.width ?? 80) - 1;
    const shown = oneLine(this.#status?.(room) ?? "").slice(0, room);
    this.#stream.write(this.#erase() + shown);
    this.#line = shown;
  }

  clear(): void {
    if (this.#line !== "") this.#stream.write(this.#erase());
    this.#line = "";
  }

  #erase(): string {
    // Carriage return, then erase to the end of the line (ECMA-48, EL).
    return this.#line === "" ? "" : "\r\u001B[K";
  }
}

/** The message of an error, its hint, and where to find help. */
function errorText(error: unknown, command: string | null): string {
  const help = `  see: repute ${command === null ? "" : `${command} `}--help`;
  return [...explain(error), ...(error instanceof UsageError ? [help] : [])].join("\n");
}

function explain(error: unknown): readonly string[] {
  if (error instanceof ReputeError) {
    // The code that JSON shows for a failed request, explained in docs/errors.md.
    const isOfService = error.code in serviceCodes || /^http_\d+$/.test(error.code);
    const isStop = error instanceof InterruptedError || error instanceof EarlyEndError;
    const code = isOfService && !isStop ? ` (${error.code})` : "";
    // A message about settings has one line per setting.
    const texts = error instanceof UsageError ? error.message.split("\n") : [error.message + code];
    const lines = texts.map((line) => `repute: ${oneLine(line)}`);
    return error.hint === null ? lines : [...lines, `  ${error.hint}`];
  }
  const limit = limits.has((error as NodeJS.ErrnoException | null)?.code) && systemFault(error);
  if (limit) return [`repute: ${limit[0]}`, `  ${limit[1]}`];
  return [
    `repute: unexpected error: ${oneLine(messageOf(error))}`,
    "  this is a bug in repute; please report it, with the line that --log-format json prints",
  ];
}

/** Limits of the process or the machine, which any operation can reach: no bugs of repute. */
const limits: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function errorFields(error: unknown): LogFields {
  if (!(error instanceof ReputeError)) return { code: "unexpected", stack: stacksOf(error) };
  return { code: error.code, hint: error.hint === null ? null : redactAddress(error.hint) };
}

/** Where an error and its causes were thrown. */
function stacksOf(error: unknown): string[] {
  const texts: string[] = [];
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    texts.push(inner.stack ?? inner.message);
  }
  return texts;
}

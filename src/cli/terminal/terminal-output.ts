import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableData } from "../../core/wording/printable.js";

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Keeps data from controlling the terminal: control and bidirectional characters print as `<U+001B>`. */
export class TerminalOutput extends Writable implements TerminalStream {
  readonly isTTY = true;
  readonly #terminal: TerminalStream;
  readonly #decoder = new StringDecoder();
  /** Chunks that `writeEscaped` got, to pass on as they are. */
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

/** Writes text with the colours of `paintFor`. The caller has escaped the rest of it. */
export function writePainted(stdout: TerminalStream, text: string): void {
  if (stdout instanceof TerminalOutput) stdout.writeEscaped(text);
  else stdout.write(text);
}

/** Select Graphic Rendition (ECMA-48): red, yellow, blue. */
const verdictColors: ReadonlyMap<string, number> = new Map([
  ["malicious", 31],
  ["suspicious", 33],
  ["listed", 34],
]);

const bold = 1;

interface Screen {
  readonly stdout: TerminalStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns what colours the cells of a table: titles (`value` null) and verdicts; others stay plain.
 * FORCE_COLOR overrides NO_COLOR, as in Node.js; without them, only a capable terminal gets colours.
 */
export function paintFor({ stdout, env }: Screen): (text: string, value: string | null) => string {
  if (!usesColor(env, stdout)) return (text) => text;
  return (text, value) => {
    const style = value === null ? bold : verdictColors.get(value);
    return style === undefined ? text : `\u001B[${style}m${text}\u001B[0m`;
  };
}

function usesColor(env: Screen["env"], stream: TerminalStream): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return stream.isTTY === true && (env["TERM"] ?? "dumb") !== "dumb";
}

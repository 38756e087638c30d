import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { printableData } from "../../core/wording/printable.js";

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

export interface Paint {
  readonly title: (text: string) => string;
  /** A cell: a verdict gets its colour, any other text stays plain. */
  readonly cell: (text: string, value: string) => string;
}

/** Select Graphic Rendition (ECMA-48): red, yellow, blue. */
const verdictColors: ReadonlyMap<string, number> = new Map([
  ["malicious", 31],
  ["suspicious", 33],
  ["listed", 34],
]);

type Environment = Readonly<Record<string, string | undefined>>;

interface Painted {
  readonly stdout: TerminalStream;
  readonly env: Environment;
}

const plain: Paint = { title: (text) => text, cell: (text) => text };

const colored: Paint = {
  title: (text) => styled(text, 1),
  cell: (text, value) => {
    const color = verdictColors.get(value);
    return color === undefined ? text : styled(text, color);
  },
};

/**
 * Whether to colour what goes to a stream. FORCE_COLOR and NO_COLOR decide, in that order, as in
 * Node.js; without them, whether the stream is a capable terminal.
 */
export function usesColor(env: Environment, stream: TerminalStream): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return stream.isTTY === true && (env["TERM"] ?? "dumb") !== "dumb";
}

export function paintFor({ stdout, env }: Painted): Paint {
  return usesColor(env, stdout) ? colored : plain;
}

/** Colours the verdicts that a run's summary starts with. */
export function paintSummary(text: string): string {
  return text.replaceAll(
    /^((?: {2}verdict)? +)(malicious|suspicious|listed)(?= +[\d,]+ +[<>\d.]+%$)/gm,
    (_, space: string, verdict: string) => space + colored.cell(verdict, verdict),
  );
}

/** Prints a report's text in colour: its headings, and the verdicts that lines start with. */
export function printReport(text: string, { stdout, env }: Painted): void {
  const safe = printableData(text);
  writePainted(stdout, usesColor(env, stdout) ? paintReport(safe) : safe);
}

function paintReport(text: string): string {
  return text
    .replaceAll(/(?<=\n\n)[^\n ][^\n]*(?=\n {2})/g, (title) => colored.title(title))
    .replaceAll(/(?<=^ {2})(?:malicious|suspicious|listed|on a mail blocklist)(?= )/gm, (name) =>
      colored.cell(name, name === "on a mail blocklist" ? "listed" : name),
    );
}

function styled(text: string, style: number): string {
  return `\u001B[${style}m${text}\u001B[0m`;
}

import { printableData } from "../../core/text/printable.js";
import type { CliContext } from "./cli-context.js";
import { type TerminalStream, writePainted } from "./terminal-output.js";

/** Adds colour to text whose control characters are already escaped. */
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
export function usesColor(env: CliContext["env"], stream: TerminalStream): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return stream.isTTY === true && (env["TERM"] ?? "dumb") !== "dumb";
}

export function paintFor({ stdout, env }: Pick<CliContext, "stdout" | "env">): Paint {
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
export function printReport(text: string, { stdout, env }: Parameters<typeof paintFor>[0]): void {
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

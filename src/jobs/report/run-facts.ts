import {
  formatCount,
  formatPercent,
  formatSeconds,
  shellWord,
} from "../../core/wording/quantity.js";
import type { Report, RunFacts } from "./types.js";

interface RunFact {
  readonly name: string;
  readonly value: string;
  readonly isCode: boolean;
}

export function runFacts({ output, rows, run, sources }: Report): readonly RunFact[] {
  const answers = Object.entries(sources).filter(([, count]) => count > 0);
  const answered = answers.reduce((sum, [, count]) => sum + count, 0);
  const shares = answers.map(
    ([source, count]) => `${sourceNames[source] ?? source} ${formatPercent(count, answered)}`,
  );
  const general = [
    fact("Output", output, true),
    ...(shares.length === 0 ? [] : [fact("Answers", shares.join(", "))]),
  ];
  if (run === null) {
    return [...general, fact("Requests", "unknown: there is no manifest beside the output")];
  }
  const requests = Object.entries(run.requests).filter(([, { total }]) => total > 0);
  const speed =
    run.seconds > 0 && rows > 0 ? `, ${formatCount(rows / run.seconds)} rows a second` : "";
  return [
    fact("Input", inputText(run), true),
    ...general,
    fact("Started", run.startedAt.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC")),
    fact("Duration", `${formatSeconds(run.seconds)}${speed}`),
    fact(
      "Requests",
      requests.length === 0
        ? "none"
        : requests.map(([endpoint, { total }]) => `${endpoint} ${formatCount(total)}`).join(", "),
    ),
    ...(run.unusualEnd === null ? [] : [fact("End", run.unusualEnd)]),
    fact("Command", run.command.map(shellWord).join(" "), true),
  ];
}

/** `a.csv`, or `3 inputs, a.csv to c.csv`. */
function inputText({ inputs }: RunFacts): string {
  const [first = "stdin"] = inputs;
  if (inputs.length < 2) return first;
  return `${formatCount(inputs.length)} inputs, ${first} to ${inputs.at(-1)}`;
}

const sourceNames: Readonly<Record<string, string>> = {
  live: "from the service",
  cache: "from the cache",
  duplicate: "shared with an equal item",
  local: "made here",
};

function fact(name: string, value: string, isCode = false): RunFact {
  return { name, value, isCode };
}

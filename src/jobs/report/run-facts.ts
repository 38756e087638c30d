import {
  formatCount,
  formatPercent,
  formatSeconds,
  shellWord,
} from "../../core/wording/quantity.js";
import type { FoundManifest } from "../../core/manifest.js";
import type { Report } from "./types.js";

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
  const { seconds = 0, started_at = "", command = [], exit_reason = "done" } = run;
  const requests = Object.entries(run.requests ?? {}).filter(([, { total }]) => total > 0);
  const speed = seconds > 0 && rows > 0 ? `, ${formatCount(rows / seconds)} rows a second` : "";
  return [
    fact("Input", inputText(run), true),
    ...general,
    fact("Started", started_at.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC")),
    fact("Duration", `${formatSeconds(seconds)}${speed}`),
    fact(
      "Requests",
      requests.length === 0
        ? "none"
        : requests.map(([endpoint, { total }]) => `${endpoint} ${formatCount(total)}`).join(", "),
    ),
    ...(exit_reason === "done" ? [] : [fact("End", exit_reason.replaceAll("_", " "))]),
    fact("Command", command.map(shellWord).join(" "), true),
  ];
}

/** Names of the inputs of a run; none for stdin. */
export function runInputs({ input, inputs }: FoundManifest): readonly string[] {
  return inputs?.map(({ path }) => path) ?? [input?.path ?? []].flat();
}

/** `a.csv`, or `3 inputs, a.csv to c.csv`. */
function inputText(run: FoundManifest): string {
  const inputs = runInputs(run);
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

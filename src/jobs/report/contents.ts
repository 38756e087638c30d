import { counted, formatCount, formatPercent, formatSeconds } from "../../core/wording/quantity.js";
import type { FoundManifest } from "../../core/manifest.js";
import type { outcomes, Report } from "./report-tally.js";

/** What each outcome is called; `none` never reads as safe. */
export const outcomeNames: Readonly<Record<(typeof outcomes)[number], string>> = {
  malicious: "malicious",
  suspicious: "suspicious",
  listed: "on a mail blocklist",
  none: "nothing known",
  part: "too little known",
  unchecked: "not checkable",
};

/** What a kind of item is called; "" stands for rows without an item. */
export function kindName(kind: string): string {
  return kind === "" ? "no item" : kind.replace("_", " ");
}

export function headline({ rows, outcomes }: Report): string {
  if (rows === 0) return "There were no rows to check.";
  if (outcomes.unchecked === rows) return "No row could be checked.";
  const found = (["malicious", "suspicious", "listed"] as const).filter(
    (name) => outcomes[name] > 0,
  );
  if (found.length > 0) {
    const be = outcomes[found[0]!] === 1 ? "is" : "are";
    const [first, ...others] = found.map(
      (name) => `${formatCount(outcomes[name])} ${outcomeNames[name]}`,
    );
    const list = andList.format([first!.replace(" ", ` ${be} `), ...others]);
    return `Of ${counted(rows, "row")}, ${list}.`;
  }
  const { none } = outcomes;
  if (none === 0) return "No row has a verdict.";
  const all = none < rows ? `${formatCount(none)} of the ${counted(rows, "row")}` : "any row";
  return `Nothing is known against ${all}.`;
}

const andList = new Intl.ListFormat("en-GB");

/** What the sentence leaves open. */
export function headlineDetail({ rows, outcomes }: Report): string {
  const { none, part, unchecked } = outcomes;
  const share = (count: number) => `${formatCount(count)} (${formatPercent(count, rows)})`;
  const were = part === 1 ? "was" : "were";
  return [
    none > 0 &&
      `Nothing is known against ${share(none)}, which does not make ${none === 1 ? "it" : "them"} safe.`,
    unchecked > 0 && `${share(unchecked)} could not be checked.`,
    part > 0 && `${share(part)} ${were} answered in part, too little for a verdict.`,
  ]
    .filter((part) => part !== false)
    .join(" ");
}

type Named = Report["tags"];

/** Rows by a name, such as a tag or a month: `what` its names are. */
export type CountList = ReturnType<typeof countLists>[number];

/** The parts of a report that count rows by name. */
export function countLists(report: Report) {
  const { tags, networks, countries, firstSeen, lastSeen } = report;
  const accused = "Malicious, suspicious and listed rows";
  const lists = [
    { id: "tags", title: "Tags", what: "Tag", note: "Rows that carry the tag", ...tags },
    { id: "networks", title: "Networks", what: "Network", note: accused, ...networks },
    { id: "countries", title: "Countries", what: "Country", note: accused, ...countries },
    { id: "last-seen", title: "Last seen", ...months, ...latest(lastSeen) },
    { id: "first-seen", title: "First seen", ...months, ...latest(firstSeen) },
  ];
  return lists.filter(({ entries }) => entries.length > 0);
}

const months = { what: "Month", note: "Rows by month" };

const mostMonths = 12;

/** The latest months, the newest first. */
function latest(counts: ReadonlyMap<string, number>): Named {
  const [newest] = [...counts.keys()].toSorted().slice(-1);
  if (newest === undefined) return { entries: [], more: "" };
  const entries: Named["entries"] = [];
  let left = [...counts.values()].reduce((sum, count) => sum + count, 0);
  for (const date = new Date(newest); left > 0 && entries.length < mostMonths; date.setUTCDate(0)) {
    const name = date.toISOString().slice(0, 7);
    const count = counts.get(name) ?? 0;
    entries.push({ name, count });
    left -= count;
  }
  return { entries, more: left > 0 ? `${counted(left, "row")} earlier` : "" };
}

type RunFact = Readonly<Record<"name" | "value", string>>;

/** What is known of the run that made an output. */
export function runFacts({ output, run, sources }: Report): readonly RunFact[] {
  const answered = sources.reduce((sum, { count }) => sum + count, 0);
  const answers = sources.map(
    ({ name, count }) => `${sourceNames[name] ?? name} ${formatPercent(count, answered)}`,
  );
  const general = [
    { name: "Output", value: output },
    { name: "Answers", value: answers.join(", ") },
  ];
  const facts = run === null ? [...general, noRun] : [inputFact(run), ...general, ...factsOf(run)];
  return facts.filter(({ value }) => value !== "");
}

const noRun = { name: "Requests", value: "unknown: there is no manifest beside the output" };

/** Names of the inputs of a run; none for stdin. */
export function runInputs({ input, inputs }: FoundManifest): readonly string[] {
  return inputs?.map(({ path }) => path) ?? [input?.path ?? []].flat();
}

/** `a.csv`, or `3 inputs, a.csv to c.csv`. */
function inputFact(run: FoundManifest): RunFact {
  const inputs = runInputs(run);
  const [first = "stdin"] = inputs;
  const several = `${formatCount(inputs.length)} inputs, ${first} to ${inputs.at(-1)}`;
  return { name: "Input", value: inputs.length < 2 ? first : several };
}

function factsOf(run: FoundManifest): readonly RunFact[] {
  const { seconds = 0, started_at = "", exit_reason = "done", exclusions = [] } = run;
  const requests = Object.entries(run.requests ?? {})
    .filter(([, { total }]) => total > 0)
    .map(([endpoint, { total }]) => `${endpoint} ${formatCount(total)}`);
  const heldBack = exclusions.map((list) => `${counted(list.rows, "row")} by ${list.path}`);
  return [
    { name: "Started", value: started_at.replace("T", " ").replace(/(?:\.\d+)?Z$/, " UTC") },
    { name: "Duration", value: formatSeconds(seconds) },
    { name: "Requests", value: requests.join(", ") || "none" },
    { name: "Held back", value: heldBack.join(", ") },
    { name: "End", value: exit_reason === "done" ? "" : exit_reason.replaceAll("_", " ") },
  ];
}

const sourceNames: Readonly<Record<string, string>> = {
  live: "from the service",
  cache: "from the cache",
  duplicate: "shared with an equal item",
  local: "not sent",
};

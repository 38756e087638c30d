import fc from "fast-check";
import { expect, test } from "vitest";
import { metricsText } from "../../../src/cli/unattended/metrics-file.js";
import { formatSummary } from "../../../src/cli/commands/enrich/summary.js";
import { formats } from "../../../src/io/formats/registry.js";
import type { OutputRecord } from "../../../src/io/formats/types.js";
import { Tally } from "../../../src/jobs/enrich/tally.js";
import type { Manifest } from "../../../src/core/manifest.js";
import { diffOutputs } from "../../../src/jobs/diff/diff-outputs.js";
import { tallyReport } from "../../../src/jobs/report/report-tally.js";
import { aRow } from "../../helpers/enriched-rows.js";
import {
  findingOf,
  itemOf,
  type Night,
  nights,
  outages,
  pairsOfNights,
  type Said,
} from "../../helpers/random-nights.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** The rows that a night writes, read back, and the counts of its run. */
async function written(night: Night) {
  const format = formats[night.form === "csv" || night.form === "tsv" ? night.form : "ndjson"];
  const shape = night.form === "nested" ? ("nested" as const) : ("flat" as const);
  const options = { columns: ["item"], prefix: "rep_", shape };
  const encoder = format.write(options);
  const tally = new Tally();
  const records: OutputRecord[] = [];
  for (const text of Object.keys(night.rows)) {
    const item = itemOf(text);
    const enriched = {
      row: aRow({ cells: [text], itemText: text }),
      item,
      finding: await findingOf(night, item),
    };
    tally.row(enriched);
    const line = encoder.encode([enriched]);
    const record = format.records?.layout(encoder.header || line, "rep_")?.read(line);
    if (!record) throw new Error(`not read: ${line}`);
    records.push(record);
  }
  return { records, tally };
}

async function* once<Value>(list: readonly Value[]): AsyncGenerator<readonly Value[]> {
  yield list;
}

/** The answers that the night's lookups got for an item. */
function answersOf(
  { lookups, rows }: Night,
  item: string,
): Partial<Record<"query" | "quick", Said>> {
  const { query, "quick-check": quick } = rows[item]!;
  if (lookups === "query") return { query };
  if (lookups === "quick-check") return { quick };
  if (lookups === "both") return { query, quick };
  const shows = ["malicious", "suspicious"].includes(quick.intent ?? "");
  const isAnswer = quick.how === "full" || quick.how === "partial";
  const isAsked = isAnswer && (shows || ["ACTIVE", "PASSIVE"].includes(quick.blocklist ?? ""));
  return isAsked ? { query, quick } : { quick };
}

/** What the rules say about a row. */
function expected(night: Night, item: string) {
  const { query, quick } = answersOf(night, item);
  const asked = [query, quick].filter((said) => said !== undefined);
  const answers = asked.filter(({ how }) => how === "full" || how === "partial");
  const isMail = item.includes("@");
  const intents = new Set(
    [isMail ? undefined : query, quick]
      .filter((said) => said?.how === "full" || said?.how === "partial")
      .map((said) => said?.intent),
  );
  const isWhole = answers.length === asked.length;
  const isMissing = (member: "intent" | "blocklist"): boolean =>
    query?.how !== "full" &&
    (query?.[member] ?? null) === null &&
    (quick?.[member] ?? null) === null;
  const lacksIntent = !isMail && isMissing("intent");
  const verdict = intents.has("malicious")
    ? "malicious"
    : intents.has("suspicious")
      ? "suspicious"
      : answers.some(({ blocklist }) => blocklist === "ACTIVE")
        ? "listed"
        : isWhole && !lacksIntent && !isMissing("blocklist")
          ? "none"
          : "unknown";
  const known = <Value>(value: Value | null | undefined, empty: Value): Value | null => {
    if (query?.how !== "full" && query?.how !== "partial") return null;
    if (isMail) return empty;
    return value ?? (query.how === "full" ? empty : null);
  };
  return {
    verdict,
    isAnswered: answers.length > 0,
    weights: weightsOf(night, item),
    facts: [
      known(query?.tags, [])?.join("|").split("|").toSorted().join("|") ?? null,
      known(query?.asn, ""),
      known(query?.email, ""),
    ],
  };
}

/** What each lookup says against an item; undefined for what it should have said and did not. */
function weightsOf(night: Night, item: string): readonly (number | undefined)[] {
  const { query, quick } = answersOf(night, item);
  const isMail = item.includes("@");
  const isLost = (said?: Said): boolean => said?.how === "failed" || said?.how === "rejected";
  const weigh = (value: string | null | undefined): number =>
    ["ACTIVE", "suspicious", "malicious"].indexOf(value ?? "") + 1;
  return (["intent", "blocklist"] as const).flatMap((member) => {
    const inQuery = isMail && member === "intent" ? "none" : query?.[member];
    const isMissing = query?.how === "partial" && inQuery === null;
    const inQuick = isLost(quick) ? null : (quick?.[member] ?? null);
    return [
      isMissing || isLost(query) ? undefined : weigh(inQuery),
      // A quick check without the member tells nothing if the query doesn't have it either.
      inQuick === null && (isMissing || isLost(query) || isLost(quick))
        ? undefined
        : weigh(inQuick),
    ];
  });
}

type Expected = ReturnType<typeof expected>;

const gravity = ["none", "listed", "suspicious", "malicious"];

function naiveChange(was: Expected | null, is: Expected | null): string {
  if (was === null) return "new";
  if (is === null) return "gone";
  if (was.verdict === "unknown" || is.verdict === "unknown") return "unanswered";
  const step = gravity.indexOf(is.verdict) - gravity.indexOf(was.verdict);
  const isShared = (n: number): boolean =>
    was.weights[n] !== undefined && is.weights[n] !== undefined;
  const gravest = ({ weights }: Expected): number =>
    Math.max(0, ...weights.filter((_, n) => isShared(n)).map(Number));
  const known = gravest(is) - gravest(was);
  if (step > 0 && known > 0) return "worse";
  if (step < 0 && known < 0) return "better";
  const differs = is.facts.some(
    (fact, n) => fact !== null && was.facts[n] !== null && fact !== was.facts[n],
  );
  return differs ? "changed" : "same";
}

function counts(names: readonly string[], all: readonly string[]): Record<string, number> {
  return Object.fromEntries(all.map((name) => [name, names.filter((n) => n === name).length]));
}

const changeNames = ["worse", "new", "changed", "better", "gone", "same", "unanswered"];
const verdictNames = ["malicious", "suspicious", "listed", "none", "unknown"];

/** The verdicts in a summary: those that it leaves out are zero. */
function summarised(tally: Tally): Record<string, number> {
  const manifest = {
    ...tally.snapshot(),
    input: { rows: tally.rows },
    output: { path: null, bytes: null, rows: tally.rows },
    seconds: 0,
  } as unknown as Manifest;
  const text = formatSummary(manifest, 100);
  const found = (name: string) =>
    new RegExp(`^  (?:verdict)? +${name}(?: \\(.*\\))? +(\\d+) `, "m");
  return Object.fromEntries(
    verdictNames.map((name) => [name, Number(found(name).exec(text)?.[1] ?? 0)]),
  );
}

function metered({ verdicts, statuses }: Tally): Record<string, number> {
  const text = metricsText({
    command: "enrich",
    output: "out.csv",
    record: { verdicts, statuses },
    ended: null,
    lastSuccess: null,
    startedAt: 0,
    now: 0,
  });
  const samples = text.matchAll(/^repute_verdict_rows\{.*verdict="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries(Array.from(samples, ([, name, n]) => [name, Number(n)]));
}

const run = { seed: 37, numRuns: 100 };

test("the diff of pairs of nights agrees with a naive comparison", async () => {
  const folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(pairsOfNights, async ([one, other]) => {
      const [before, after] = [await written(one), await written(other)];
      await using diff = await diffOutputs(once(before.records), once(after.records), folder);
      const changes = new Map([...diff.changes()].map(({ item, change }) => [item, change]));
      const items = [...new Set([...Object.keys(one.rows), ...Object.keys(other.rows)])];
      const naive = items.map((item) =>
        naiveChange(
          one.rows[item] ? expected(one, item) : null,
          other.rows[item] ? expected(other, item) : null,
        ),
      );
      const { newVerdicts, ...changed } = diff.counts;
      expect(changed).toEqual(counts(naive, changeNames));
      const added = items.filter((_, at) => naive[at] === "new");
      const verdicts = added.map((item) => expected(other, item).verdict);
      expect(newVerdicts).toEqual(counts(verdicts, verdictNames));
      expect(items.map((item) => changes.get(item) ?? "none")).toEqual(
        naive.map((change) => (["same", "unanswered"].includes(change) ? "none" : change)),
      );
    }),
    run,
  );
});

test("an outage makes no item better, and its end makes none worse", async () => {
  const folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(outages, async ([one, other]) => {
      const [before, after] = [await written(one), await written(other)];
      await using diff = await diffOutputs(once(before.records), once(after.records), folder);
      expect(diff.counts).toMatchObject({ better: 0, worse: 0, changed: 0 });
    }),
    run,
  );
});

test("rows, manifest, summary, metrics and report count the same verdicts", async () => {
  await fc.assert(
    fc.asyncProperty(nights, async (night) => {
      const { records, tally } = await written(night);
      const rows = Object.keys(night.rows).map((item) => expected(night, item));
      const inRows = records.map((record) => record.text("verdict") || "unknown");
      expect(inRows).toEqual(rows.map(({ verdict }) => verdict));
      const verdicts = counts(inRows, verdictNames);
      expect(tally.verdicts).toEqual(verdicts);
      expect(summarised(tally)).toEqual(verdicts);
      expect(metered(tally)).toEqual(verdicts);
      const { outcomes } = await tallyReport("out", { columns: [], records: once(records) }, null);
      const { unknown, ...known } = verdicts;
      const part = rows.filter((row) => row.verdict === "unknown" && row.isAnswered).length;
      expect(outcomes).toEqual({ ...known, part, unchecked: unknown! - part });
    }),
    run,
  );
});

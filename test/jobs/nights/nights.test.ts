import fc from "fast-check";
import { expect, test } from "vitest";
import { metricsText } from "../../../src/cli/unattended/metrics-file.js";
import { summary } from "../../helpers/summary-text.js";
import { formats } from "../../../src/io/formats/registry.js";
import type { OutputRecord } from "../../../src/io/formats/types.js";
import { Tally } from "../../../src/jobs/enrich/tally.js";
import type { Manifest } from "../../../src/core/manifest.js";
import { diffOutputs } from "../../../src/jobs/diff/diff-outputs.js";
import { tallyReport } from "../../../src/jobs/report/report-tally.js";
import { aRow } from "../../helpers/enriched-rows.js";
import { findingOf, itemOf, type Night, nights, outages } from "../../helpers/random-nights.js";
import { randomRounds } from "../../helpers/random-rounds.js";

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

const verdictNames = ["malicious", "suspicious", "listed", "none", "unknown"];

/** The verdicts in a summary: those that it leaves out are zero. */
async function summarised(tally: Tally): Promise<Record<string, number>> {
  const manifest = {
    ...tally.snapshot(),
    input: { rows: tally.rows },
    output: { path: null, bytes: null, rows: tally.rows },
    seconds: 0,
  } as unknown as Manifest;
  const text = await summary(manifest, 100);
  const found = (name: string) =>
    new RegExp(`^  (?:verdict)? +${name}(?: \\(.*\\))? +(\\d+) `, "m");
  return Object.fromEntries(
    verdictNames.map((name) => [name, Number(found(name).exec(text)?.[1] ?? 0)]),
  );
}

function metered({ counts: { verdicts, statuses } }: Tally): Record<string, number> {
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

const run = { seed: 37, ...randomRounds(100) };

test("an outage makes no item better, and its end makes none worse", async () => {
  await fc.assert(
    fc.asyncProperty(outages, async ([one, other]) => {
      const [before, after] = [await written(one), await written(other)];
      await using diff = await diffOutputs(once(before.records), once(after.records));
      expect(diff.counts).toMatchObject({ better: 0, worse: 0, changed: 0 });
    }),
    run,
  );
});

test("rows, manifest, summary, metrics and report count the same verdicts", async () => {
  await fc.assert(
    fc.asyncProperty(nights, async (night) => {
      const { records, tally } = await written(night);
      const inRows = records.map((record) => record.text("verdict") || "unknown");
      const verdicts = Object.fromEntries(
        verdictNames.map((name) => [name, inRows.filter((verdict) => verdict === name).length]),
      );
      expect(tally.counts.verdicts).toEqual(verdicts);
      expect(await summarised(tally)).toEqual(verdicts);
      expect(metered(tally)).toEqual(verdicts);
      const { outcomes } = await tallyReport("out", {
        columns: [],
        records: once(records),
        manifest: null,
      });
      const { unknown, ...known } = verdicts;
      expect(outcomes).toEqual({
        ...known,
        part: expect.any(Number),
        unchecked: expect.any(Number),
      });
      expect(outcomes.part + outcomes.unchecked).toBe(unknown);
    }),
    run,
  );
});

import fc from "fast-check";
import { join } from "node:path";
import { expect, test } from "vitest";
import { timeText } from "../../../../src/core/clock.js";
import { columns } from "../../../../src/core/columns.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { resultInRecord } from "../../../../src/jobs/retry/retry-output.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { readOutput } from "../../../../src/io/output/read.js";
import { formats } from "../../../../src/io/formats/registry.js";
import type { OutputRecord } from "../../../../src/io/formats/types.js";
import { publishRows } from "./publishing.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { freq: 4 });
const text = orNull(fc.constantFrom("a", "=b", "'c", "-1", "true", 'a "quoted", text', "ä\n😀"));
const time = orNull(
  fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n }).map((micros) => timeText(micros, 6)),
);
const flag = orNull(fc.boolean());
const list = fc.array(fc.constantFrom("a:b", "=c", "d,e"), { minLength: 1, maxLength: 3 });
const interactions = fc.record({
  firstSeen: time,
  lastSeen: time,
  observations: fc.array(fc.record({ service: text }), { maxLength: 3 }),
});

const query = fc.record({
  type: text,
  serviceMailBlocklist: text,
  bogon: flag,
  intent: orNull(fc.constantFrom("malicious", "suspicious", "unknown", "none")),
  tags: orNull(list),
  firstSeen: time,
  lastSeen: time,
  reverseDns: orNull(list.map((names) => ({ current: names.map((entry) => ({ entry })) }))),
  abuseContact: orNull(fc.record({ email: text, status: text, lastVerification: time })),
  asn: orNull(fc.record({ asn: text, name: text, countryCode: text })),
  observedActivity: orNull(
    fc.record({ honeypotInteractions: interactions, spamtrapInteractions: interactions }),
  ),
});

const quickCheck = fc.record({
  serviceMailBlocklist: text,
  intent: text,
  bogon: flag,
  activity: flag,
});

/** A row whose query lacks the members that are null. */
const rows: fc.Arbitrary<EnrichedRow> = fc
  .record({ query, quickCheck })
  .map(({ query: result, quickCheck: quick }) => {
    const missing = Object.entries(result).flatMap(([name, value]) =>
      value === null ? [name] : [],
    );
    return anEnrichedRow({}, { query: result, quickCheck: quick, status: "partial", missing });
  });

/** What all columns say of a row that is put together from a record of it. */
function restored({ row, item, finding }: EnrichedRow, record: OutputRecord) {
  const missing = record.list("missing");
  const answers = {
    query: { result: resultInRecord(record, "query", missing) },
    "quick-check": { result: resultInRecord(record, "quick-check", []) },
  };
  return valuesOf({ row, item, finding: { ...finding, answers, missing } });
}

function valuesOf(row: EnrichedRow) {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(row)]));
}

test.each([
  ["csv", "flat"],
  ["tsv", "flat"],
  ["ndjson", "flat"],
  ["ndjson", "nested"],
] as const)("every column comes back from %s, %s", (name, shape) => {
  const options = { columns: ["ip"], prefix: "rep_", shape };
  const encoder = formats[name].write(options);
  fc.assert(
    fc.property(rows, (row) => {
      const line = encoder.encode([row]);
      const layout = formats[name].records!.layout(encoder.header || line, "rep_")!;
      expect(restored(row, layout.read(line)!)).toEqual(valuesOf(row));
    }),
  );
});

test.each(["parquet", "duckdb"])("every column comes back from %s", async (kind) => {
  const folder = await temporaryFolder();
  const file = join(folder, `out.${kind}`);
  const output = kind === "parquet" ? file : `duckdb:${file}?table=nightly`;
  const batch = fc.sample(rows, 200).map(({ row, item, finding }, index) => ({
    row: Object.assign(row, { number: index + 1 }),
    item,
    finding,
  }));
  await publishRows(output, folder, batch);
  let read = 0;
  for await (const records of (await readOutput(parseOutput(output), undefined)).records) {
    for (const record of records) {
      const row = batch[read++]!;
      expect(restored(row, record)).toEqual(valuesOf(row));
    }
  }
  expect(read).toBe(batch.length);
});

test("counts and numbers of the wrong kind are unknown", () => {
  const observations = (value: unknown) => {
    const observedActivity = { honeypotInteractions: { observations: value } };
    return valuesOf(anEnrichedRow({}, { query: { observedActivity } }))["honeypot_observations"];
  };
  const wrong = [87.5, -1, 2 ** 60, "3", Number.NaN];
  expect(wrong.map(observations)).toEqual(wrong.map(() => null));
  expect([0, 3, [1, 2]].map(observations)).toEqual([0, 3, 2]);
});

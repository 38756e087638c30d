import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findingStatuses } from "../../../../src/core/finding.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import {
  reply,
  reset,
  startScriptedServer,
  truncated,
  type Step,
} from "../../../helpers/scripted-server.js";
import { failure, ipResult, partialSuccess, success } from "../../../client/api/answers.js";
import { anyText } from "../../../helpers/any-text.js";

/** Answers that a service may give for an item before a full one, or forever. */
const answers: Readonly<Record<string, (item: string) => Step>> = {
  whole: (item) => reply(200, success({ ...ipResult(), item })),
  partial: (item) => reply(503, partialSuccess({ ...ipResult(), item, asn: null })),
  page: () => reply(200, "<title>Sign in</title>"),
  reset: () => reset(),
  truncated: (item) => truncated(success({ ...ipResult(), item })),
  unavailable: () => reply(503, "busy"),
  throttled: () => reply(429, "", { "retry-after": "1" }),
  absent: () => reply(404),
  invalid: () => reply(400, failure("no such item")),
};

/** The first answers for each item, in order. */
type Script = Readonly<Record<string, readonly string[]>>;

let script: Script = {};
const asked = new Map<string, number>();
const server = await startScriptedServer(({ path }) => {
  const n = asked.get(path) ?? 0;
  asked.set(path, n + 1);
  const item = path.slice(path.lastIndexOf("/") + 1);
  return answers[script[item]?.[n] ?? "whole"]!(item);
});

const items = Array.from({ length: 8 }, (_, n) => `192.0.2.${n}`);
const cells = fc.constantFrom(...items, "setup.exe", "", "192.0.2.0/24", "not an item");
const notes = anyText({ maxLength: 12 }).map((text) => text.replaceAll("\0", ""));
const scripts: fc.Arbitrary<Script> = fc.dictionary(
  fc.constantFrom(...items),
  fc.array(fc.constantFrom(...Object.keys(answers)), { maxLength: 4 }),
);

const runs = fc.record({
  rows: fc.array(fc.tuple(cells, notes), { minLength: 1, maxLength: 40 }),
  script: scripts,
  settings: fc.record({
    concurrency: fc.integer({ min: 1, max: 8 }),
    lookups: fc.constantFrom("query", "query,quick-check"),
  }),
  form: fc.constantFrom("csv", "ndjson"),
});

test("whatever the service does, every row is written once, unchanged and in order", async () => {
  await fc.assert(
    fc.asyncProperty(runs, async ({ rows, script: behaviour, settings, form }) => {
      script = behaviour;
      asked.clear();
      const table = rows.map(([ip, note], n) => ({ n: String(n), note, ip }));
      const text =
        form === "csv"
          ? stringify(table, { header: true })
          : table.map((row) => `${JSON.stringify(row)}\n`).join("");
      const run = await enrichHere({
        input: [`in.${form}`, text],
        output: `out.${form}`,
        intelUrl: server.url,
        settings: { rate: "1000000/s", itemColumn: "ip", ...settings },
        clock: new HurriedClock(),
      });
      const out =
        form === "csv"
          ? run.records().map(({ n, note, ip, rep_status }) => [{ n, note, ip }, rep_status])
          : run.text
              .trimEnd()
              .split("\n")
              .map((line) => {
                const { rep, ...row } = JSON.parse(line) as { n: string; rep: { status: string } };
                return [row, rep.status];
              });
      expect(out.map(([row]) => row)).toEqual(table);
      for (const [, status] of out) expect(findingStatuses).toContain(status);
    }),
    { numRuns: 15 },
  );
});

/** Texts that are hard for CSV: quotes, separators, line endings, spaces, formulas. */
const mess = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.string({
    unit: fc.constantFrom('"', ",", "\t", "\n", "\r", " ", "=", "#", ";", "a", "é"),
    maxLength: 8,
  }),
);

test("input cells of any text survive a run, and a run over its output", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(mess, mess), { minLength: 1, maxLength: 20 }),
      fc.constantFrom({ form: "csv", delimiter: "," }, { form: "tsv", delimiter: "\t" }),
      async (pairs, { form, delimiter }) => {
        const table = pairs.map(([a, b]) => ({ a, item: "setup.exe", b }));
        const first = await enrichHere({
          input: [`in.${form}`, stringify(table, { header: true, delimiter })],
          intelUrl: server.url,
          // There is nothing to look up.
          settings: { maxFailed: "100%" },
        });
        const second = await enrichHere({
          input: ["again.csv", first.text],
          intelUrl: server.url,
          settings: { prefix: "x_", maxFailed: "100%" },
        });
        const read = second.records().map(({ a, item, b }) => ({ a, item, b }));
        expect(read).toEqual(table);
      },
    ),
    { numRuns: 15 },
  );
});

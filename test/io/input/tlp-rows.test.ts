import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { parseTlp, tlpFault, tlpMarks } from "../../../src/core/exclusions/tlp.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { watchedService } from "../../helpers/watched-service.js";

test("however a mark is written, it passes limits from its own on", () => {
  const written = fc.tuple(
    fc.constantFrom(...tlpMarks),
    fc.constantFrom("", "TLP:", "tlp: ", " Tlp :", "TLP-"),
    fc.boolean(),
  );
  fc.assert(
    fc.property(written, fc.constantFrom(...tlpMarks), ([mark, before, isUpper], most) => {
      const text = before + (isUpper ? mark.toUpperCase() : mark);
      expect(parseTlp(text)).toBe(mark);
      const isAllowed = tlpMarks.indexOf(mark) <= tlpMarks.indexOf(most);
      expect(tlpFault([text], most) === null).toBe(isAllowed);
    }),
  );
});

test.each([
  [[""], "red", false],
  [[], "red", false],
  [["purple"], "red", false],
  [["TLP:PURPLE"], "red", false],
  [["WHITE"], "clear", true],
  [["TLP:AMBER+STRICT"], "amber", false],
  [["tlp:amber strict"], "amber+strict", true],
  [["TLP:GREEN, TLP:RED"], "green", false],
  [["tlp:green|tlp:white"], "green", true],
  [["type:OSINT", "tlp:green", 'osint:lifetime="perpetual"'], "green", true],
  [["type:OSINT", "tlp:green", "tlp:purple"], "red", false],
  [["type:OSINT", "misp-galaxy:x"], "red", false],
] as const)("marks %j with the limit %s: %s", (texts, most, isSent) => {
  expect(tlpFault(texts, most) === null).toBe(isSent);
});

test("does not choose between two columns of marks", async () => {
  await writeFile(at("two.csv"), "ip,tlp,marking\n192.0.2.1,clear,red\n");
  const limit = ["-o", at("out.csv"), "--max-tlp", "green"];
  const refused = await asked(["enrich", at("two.csv"), ...limit]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('several columns of TLP marks: "tlp", "marking"'),
    seen: [],
  });
  const named = await asked(["enrich", at("two.csv"), ...limit, "--tlp-column", "tlp"]);
  expect(named).toMatchObject({ code: 0, seen: ["192.0.2.1"] });
});

let folder: string;
const at = (name: string): string => join(folder, name);
const addresses = [1, 2, 3, 4].map((last) => `192.0.2.${last}`);

beforeEach(async () => {
  folder = await temporaryFolder();
  const marks = ["TLP:RED", "amber", "WHITE", ""];
  const rows = addresses.map((ip, index) => ({ ip, tlp: marks[index] ?? "" }));
  const csv = ["ip,tlp", ...rows.map(({ ip, tlp }) => `${ip},${tlp}`)].join("\n");
  const tags = ({ ip, tlp }: (typeof rows)[number]) =>
    JSON.stringify({ ip, Tag: [{ name: "type:OSINT" }, ...(tlp === "" ? [] : [{ name: tlp }])] });
  await writeFile(at("in.csv"), `${csv}\n`);
  await writeFile(at("in.ndjson"), `${rows.map(tags).join("\n")}\n`);
  await writeFile(at("unmarked.csv"), "ip\n192.0.2.9\n");
  await writeFile(at("in.txt"), "192.0.2.1\n");
});

/** Runs against a service of its own. @returns the items that were asked for */
async function asked(args: readonly string[]) {
  const { seen, intelUrl } = await watchedService();
  const url = ["--intel-url", intelUrl, "--bogons", "ask"];
  const { code, stderr } = await runRepute([...args, ...url, "--lookups", "query"]);
  return { code, stderr, seen: seen.toSorted().map((path) => path.split("/").at(-1)) };
}

const [red, amber, white, unmarked] = addresses;

test.each([
  ["csv, the column found by its name", ["in.csv"], [amber, white]],
  ["csv, the column named", ["in.csv", "--tlp-column", "TLP"], [amber, white]],
  ["ndjson, a path", ["in.ndjson", "--tlp-column", "Tag[].name"], [amber, white]],
  ["several, one without marks", ["in.csv", "unmarked.csv"], [amber, white]],
])("%s: what is above the limit isn't asked for", async (_, [input = "", ...flags], items) => {
  const files = [input, ...flags.filter((flag) => flag.endsWith(".csv"))].map(at);
  const others = flags.filter((flag) => !flag.endsWith(".csv"));
  const limit = ["--max-tlp", "amber", ...others];
  const run = await asked(["enrich", ...files, "-o", at("out.csv"), ...limit]);
  expect(run).toMatchObject({ code: 0, seen: items });
  const manifest = JSON.parse(await readFile(at("out.csv.manifest.json"), "utf8"));
  const rows = files.length === 1 ? 2 : 3;
  const warning = `no record has a TLP mark in ${at("unmarked.csv")}, so that none was sent`;
  expect(manifest.warnings).toEqual(rows === 2 ? {} : { [warning]: 1 });
  expect(manifest).toMatchObject({ tlp: { max: "amber", rows }, unsupported: { tlp: rows } });
  const plan = await runRepute(["plan", ...files, "--json", ...limit, "--rate", "100/s"]);
  expect(JSON.parse(plan.stdout)).toMatchObject({ unsupported: { tlp: rows }, distinct_items: 2 });
});

test("everything held back is no failure, and a run that continues obeys its own limit", async () => {
  const out = ["-o", at("out.csv")];
  const held = await asked([
    "enrich",
    at("unmarked.csv"),
    at("in.csv"),
    ...out,
    "--max-requests",
    "1",
  ]);
  expect(held).toMatchObject({ code: 75, seen: [expect.any(String)] });
  const again = await asked(["enrich", at("in.csv"), ...out, "--max-tlp", "clear", "--resume"]);
  expect([again.code, again.seen.filter((item) => item !== white)]).toEqual([0, []]);
  await writeFile(at("red.csv"), "ip,tlp\n192.0.2.1,red\n");
  const red = await asked(["enrich", at("red.csv"), "-o", at("red-out.csv"), "--max-tlp", "green"]);
  expect(red).toMatchObject({ code: 0, seen: [] });
});

test("without a limit all rows are sent, and the run says so once", async () => {
  const run = await asked(["enrich", at("in.csv"), "-o", at("out.csv")]);
  expect(run).toMatchObject({ code: 0, seen: [red, amber, white, unmarked] });
  expect(run.stderr.match(/--max-tlp/g)).toHaveLength(1);
});

test("a path that no record has is a warning: nothing was sent", async () => {
  const flags = ["--max-tlp", "red", "--tlp-column", "Tags"];
  const run = await asked(["enrich", at("in.ndjson"), "-o", at("out.csv"), ...flags]);
  expect(run).toMatchObject({ code: 0, seen: [] });
  expect(run.stderr).toContain('no record has a TLP mark at "Tags"');
});

test.each([
  ["a mark that isn't one", ["in.csv", "--max-tlp", "purple"], "must be clear, green, amber"],
  ["a column without a limit", ["in.csv", "--tlp-column", "tlp"], "does nothing without --max-tlp"],
  [
    "a column that isn't there",
    ["in.csv", "--tlp-column", "tpl", "--max-tlp", "red"],
    'mean "tlp"',
  ],
  ["no column of marks", ["unmarked.csv", "--max-tlp", "red"], "has no column of TLP marks"],
  ["a list of items", ["in.txt", "--max-tlp", "red"], "has no column of TLP marks"],
  [
    "several, none with marks",
    ["unmarked.csv", "unmarked.csv", "--max-tlp", "red"],
    "has no column",
  ],
])("%s is an error before the first request", async (_, args, message) => {
  const named = args.map((arg) => (/\.\w+$/.test(arg) ? at(arg) : arg));
  const run = await asked(["enrich", ...named, "-o", at("out.csv")]);
  expect([run.code, run.seen]).toEqual([2, []]);
  expect(run.stderr).toContain(message);
});

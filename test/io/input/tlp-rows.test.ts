import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTlp, tlpFault, tlpMarks } from "../../../src/core/exclusions/tlp.js";
import { watchedService } from "../../helpers/watched-service.js";
import { workspace } from "../../helpers/workspace.js";

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

const marks = {
  "192.0.2.1": "TLP:RED",
  "192.0.2.2": "amber",
  "192.0.2.3": "WHITE",
  "192.0.2.4": "",
};

const [red, amber, white, unmarked] = Object.keys(marks);

const lines = Object.entries(marks).map(([ip, tlp]) => {
  const names = ["type:OSINT", ...(tlp === "" ? [] : [tlp])];
  return {
    csv: `${ip},${tlp}\n`,
    json: JSON.stringify({ ip, Tag: names.map((name) => ({ name })) }),
  };
});

const files = {
  "in.csv": `ip,tlp\n${lines.map(({ csv }) => csv).join("")}`,
  "in.ndjson": `${lines.map(({ json }) => json).join("\n")}\n`,
  "two.csv": "ip,tlp,marking\n192.0.2.1,clear,red\n",
  "red.csv": "ip,tlp\n192.0.2.1,red\n",
  "unmarked.csv": "ip\n192.0.2.9\n",
  "in.txt": "192.0.2.1\n",
};

/** The files, and `enrich` with a service of its own, which tells the items that were asked for. */
async function prepared() {
  const place = await workspace(files);
  const enriched = async (args: string, output = "out.csv") => {
    const { seen, intelUrl } = await watchedService();
    const own = ["-o", output, "--intel-url", intelUrl, "--lookups", "query"];
    const { code, stderr } = await place.run("enrich", ...args.split(" "), ...own);
    return { code, stderr, seen: seen.toSorted().map((path) => path.split("/").at(-1)) };
  };
  return { ...place, enriched };
}

test.each([
  ["csv, the column found by its name", "in.csv"],
  ["csv, the column named", "in.csv --tlp-column TLP"],
  ["ndjson, a path", "in.ndjson --tlp-column Tag[].name"],
  ["several, one without marks", "in.csv unmarked.csv"],
])("%s: what is above the limit isn't asked for", async (_, args) => {
  const { enriched, manifest: manifestOf, run } = await prepared();
  expect(await enriched(`${args} --max-tlp amber`)).toMatchObject({
    code: 0,
    seen: [amber, white],
  });
  const manifest = await manifestOf();
  const rows = args.includes("unmarked") ? 3 : 2;
  const warning = "no record has a TLP mark in unmarked.csv, so none was sent";
  expect(manifest.warnings).toEqual(rows === 2 ? {} : { [warning]: 1 });
  expect(manifest).toMatchObject({ tlp: { max: "amber", rows }, unsupported: { tlp: rows } });
  const line = `plan ${args} --max-tlp amber --json --rate 100/s`;
  const plan: unknown = JSON.parse((await run(...line.split(" "))).stdout);
  expect(plan).toMatchObject({ unsupported: { tlp: rows }, distinct_items: 2 });
});

test("everything held back is no failure, and a run that continues obeys its own limit", async () => {
  const { enriched } = await prepared();
  const held = await enriched("unmarked.csv in.csv --max-requests 1");
  expect(held).toMatchObject({ code: 75, seen: [expect.any(String)] });
  const again = await enriched("in.csv --max-tlp clear --resume");
  expect([again.code, again.seen.filter((item) => item !== white)]).toEqual([0, []]);
  expect(await enriched("red.csv --max-tlp green", "r.csv")).toMatchObject({ code: 0, seen: [] });
});

test("without a limit all rows are sent, and the run says so once", async () => {
  const { enriched } = await prepared();
  const { stderr, ...run } = await enriched("in.csv");
  expect(run).toEqual({ code: 0, seen: [red, amber, white, unmarked] });
  expect(stderr.match(/--max-tlp/g)).toHaveLength(1);
});

test("a path that no record has is a warning: nothing was sent", async () => {
  const { enriched } = await prepared();
  const { stderr, ...run } = await enriched("in.ndjson --max-tlp red --tlp-column Tags");
  expect(run).toEqual({ code: 0, seen: [] });
  expect(stderr).toContain('no record has a TLP mark at "Tags"');
});

test.each([
  ["a mark that isn't one", "in.csv --max-tlp purple", "must be clear, green, amber"],
  ["a column without a limit", "in.csv --tlp-column tlp", "does nothing without --max-tlp"],
  ["a column that isn't there", "in.csv --tlp-column tpl --max-tlp red", 'mean "tlp"'],
  ["no column of marks", "unmarked.csv --max-tlp red", "has no column of TLP marks"],
  ["two columns of marks", "two.csv --max-tlp green", 'columns of TLP marks: "tlp", "marking"'],
  ["a list of items", "in.txt --max-tlp red", "has no column of TLP marks"],
  ["several, none with marks", "unmarked.csv unmarked.csv --max-tlp red", "has no column"],
])("%s is an error before the first request", async (_, args, message) => {
  const { enriched } = await prepared();
  const { stderr, ...run } = await enriched(args);
  expect(run).toEqual({ code: 2, seen: [] });
  expect(stderr).toContain(message);
});

test("of two columns of marks, the named one counts", async () => {
  const { enriched } = await prepared();
  const run = await enriched("two.csv --max-tlp green --tlp-column tlp");
  expect(run).toMatchObject({ code: 0, seen: ["192.0.2.1"] });
});

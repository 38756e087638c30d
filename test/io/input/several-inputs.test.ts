import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openSeveral } from "../../../src/io/input/open-several.js";
import { workspace } from "../../helpers/workspace.js";
import { openSource, piped } from "./sources/sources-reading.js";

/** Delimited files that differ in columns, dialect and item column, one of them gzipped. */
const reports: Readonly<Record<string, string | Buffer>> = {
  "a.csv": "Data,Note\n192.0.2.1,one\n192.0.2.2,two\n192.0.2.3,three\n",
  "b.csv": '\uFEFFNote; ioc ;Type\n"x;y";192.0.2.4;ip\nz;192.0.2.5;ip\n',
  "c.tsv.gz": gzipSync("# comment\nseen\tNote\tdomain\n1\tn\ta.example.com\n2\tn\tb.example.com\n"),
  "d.txt": "192.0.2.6\n# no item\nc.example.com\n",
};

async function prepared(files: typeof reports = reports) {
  const place = await workspace(files);
  const enriched = async (...args: readonly string[]) => {
    const result = await place.run("enrich", ...args, "--local");
    const out = args[args.indexOf("-o") + 1]!;
    return { ...result, rows: result.code === 0 ? await place.records(out) : [] };
  };
  return { ...place, enriched };
}

test("writes files that differ in columns and dialect to one output", async () => {
  const more = Object.entries(reports).map(([name, text]) => [`more/${name}`, text]);
  const { enriched, manifest, run } = await prepared({
    ...Object.fromEntries(more),
    "more/notes.md": "",
    "more/empty.csv": "",
    "first.csv": "Data\n192.0.2.9\n",
  });
  const { code, stderr, rows } = await enriched("first.csv", "more/", "-o", "all.csv");
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("skipping notes.md in more/");
  expect(stderr).toContain('using column "Data" in first.csv, more/a.csv (4 of 4 sampled cells');
  expect(stderr).not.toContain("column_1");
  expect(Object.keys(rows[0]!).slice(0, 7)).toEqual([
    "Data",
    "Note",
    " ioc ",
    "Type",
    "seen",
    "domain",
    "item",
  ]);
  expect(Object.keys(rows[0]!).slice(-2)).toEqual(["rep_extra", "rep_file"]);
  const shown = rows.map((row) => [row["rep_file"], row["Note"], row["rep_item"]]);
  expect(shown).toEqual([
    ["first.csv", "", "192.0.2.9"],
    ["more/a.csv", "one", "192.0.2.1"],
    ["more/a.csv", "two", "192.0.2.2"],
    ["more/a.csv", "three", "192.0.2.3"],
    ["more/b.csv", "x;y", "192.0.2.4"],
    ["more/b.csv", "z", "192.0.2.5"],
    ["more/c.tsv.gz", "n", "a.example.com"],
    ["more/c.tsv.gz", "n", "b.example.com"],
    ["more/d.txt", "", "192.0.2.6"],
    ["more/d.txt", "", "c.example.com"],
  ]);
  expect(await manifest("all.csv")).toMatchObject({
    input: { path: null, rows: 10 },
    inputs: [
      { path: "first.csv", bytes: 15, rows: 1, item_column: "Data" },
      { path: "more/a.csv", rows: 3, delimiter: "," },
      { path: "more/b.csv", rows: 2, delimiter: ";", item_column: " ioc " },
      { path: "more/c.tsv.gz", rows: 2, format: "tsv", item_column: "domain" },
      { path: "more/d.txt", rows: 2, format: "text" },
      { path: "more/empty.csv", rows: 0 },
    ],
  });
  expect(await run("verify", "all.csv")).toMatchObject({ code: 0 });
});

test("resumes a run stopped in any file to the same output", async () => {
  const { enriched, manifest } = await prepared();
  const files = ["a.csv", "b.csv", "c.tsv.gz", "d.txt"];
  const whole = await enriched(...files, "-o", "whole.csv", "--lookups", "query");
  let stops = 0;
  const args = [...files, "-o", "out.csv", "--lookups", "query", "--resume"];
  const step = () => enriched(...args, "--max-requests", "1", "--concurrency", "1");
  let last = await step();
  for (; last.code === 75; stops++) last = await step();
  expect(last.stderr).not.toContain("resume_differs");
  expect(stops).toBeGreaterThan(5);
  const plain = (rows: typeof whole.rows) => rows.map((row) => ({ ...row, rep_looked_up_at: "" }));
  expect(plain(last.rows)).toEqual(plain(whole.rows));
  const inputs = async (output: string) => (await manifest(output)).inputs;
  expect(await inputs("out.csv")).toEqual(await inputs("whole.csv"));
});

test.each([
  ["is gone", ["a.csv", "d.txt"], /input 2 was \S+\/b\.csv, now \S+\/d\.txt;/],
  [
    "is new",
    ["a.csv", "b.csv", "c.tsv.gz", "d.txt"],
    /input 3 was \S+\/d\.txt, now \S+\/c\.tsv\.gz;/,
  ],
])("a new run starts with the answers so far if a file %s", async (_, files, message) => {
  const { enriched } = await prepared();
  const args = ["-o", "out.csv", "--max-requests", "3", "--concurrency", "1", "--resume"];
  await enriched("a.csv", "b.csv", "d.txt", ...args);
  const { code, stderr } = await enriched(...files, ...args);
  expect(code).toBe(75);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/took over 3 answers/);
});

test("a new run starts with the answers so far if a finished file has changed", async () => {
  const { enriched, write } = await prepared();
  const long = Array.from({ length: 300 }, (_, n) => `192.0.2.1,${n}${" ".repeat(999)}\n`).join("");
  await write("a.csv", `ip,n\n${long}`);
  const args = ["a.csv", "b.csv", "-o", "out.csv", "--max-requests", "3", "--resume"];
  const stopped = await enriched(...args, "--concurrency", "1");
  expect(stopped.code, stopped.stderr).toBe(75);
  // In the middle, which the samples at both ends don't cover.
  await write("a.csv", `ip,n\n${long.replace("192.0.2.1,150 ", "192.0.2.7,150 ")}`);
  const { code, stderr } = await enriched(...args);
  expect(code).toBe(75);
  expect(stderr).toMatch(/a\.csv has changed since it was read.*a new run starts/);
  expect(stderr).toMatch(/took over 3 answers/);
});

test("--item-column applies to the files that have the column", async () => {
  const { enriched } = await prepared({
    "a.csv": "src,dst\n192.0.2.1,192.0.2.2\n",
    "b.csv": "ip\n192.0.2.3\n",
  });
  const files = ["a.csv", "b.csv", "-o", "out.csv"];
  const { rows } = await enriched(...files, "--item-column", "dst");
  expect(rows.map((row) => row["rep_item"])).toEqual(["192.0.2.2", "192.0.2.3"]);
  const missing = await enriched("b.csv", "b.csv", "-o", "o.csv", "--item-column", "dst");
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('none of the 2 inputs has a column "dst" (--item-column)');
  const unclear = await enriched(...files);
  expect(unclear.code).toBe(2);
  expect(unclear.stderr).toContain("a.csv: several columns could hold the items");
});

test("a file that is opened while the run ends is closed", async () => {
  let opened = 0;
  const open = async () => {
    const source = await openSource("text", piped("192.0.2.1\n"));
    opened += 1;
    return { ...source, close: async () => source.close().then(() => void (opened -= 1)) };
  };
  const source = await openSeveral([{ name: "a", input: { path: "none" }, open }], {}, null);
  const next = source.rows[Symbol.asyncIterator]().next();
  await source.close();
  expect(await next).toMatchObject({ done: true });
  expect(opened).toBe(0);
});

import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { copiedFolder } from "../../helpers/temporary-folder.js";
import { type Workspace, workspace } from "../../helpers/workspace.js";
import { runningService } from "../../service/running-service.js";

const input = `ip,note\n${Array.from({ length: 40 }, (_, n) => `203.0.113.${n},row ${n}`).join("\n")}\n`;

const enrich = ["enrich", "in.csv", "--local", "--synthetic", "1", "--fail-on", "never", "-q"];

/** A folder with an output of invented answers and its page. */
const filled = copiedFolder(async (folder) => {
  const { run } = await workspace({ "in.csv": input }, { folder });
  await run(...enrich, "-o", "out.csv", "--report", "one.html");
});

const enriched = async () => workspace({}, { folder: await filled() });

/** The report of an output without the section on the run, which names the output. */
async function printedReport({ run }: Workspace, name: string): Promise<string> {
  const { code, stdout } = await run("report", name);
  expect(code).toBe(0);
  return stdout.split("The run\n")[0]!;
}

test.each([
  ["out.tsv"],
  ["out.ndjson.gz"],
  ["out.ndjson", "--shape", "flat"],
  ["out.parquet"],
  ["duckdb:out.duckdb?table=enriched"],
])("the report on %s equals the report on CSV", async (name, ...flags) => {
  const place = await enriched();
  await place.run(...enrich, "-o", name, ...flags);
  const report = await printedReport(place, name);
  expect(report).toMatch(/^Of 40 rows, \d+ are malicious/);
  expect(report).toBe(await printedReport(place, "out.csv"));
});

test("a page that cannot be written costs no run, or is made of its rows", async () => {
  const { at, run } = await workspace({ "in.csv": input });
  await mkdir(at("taken.html"));
  const args = ["enrich", "in.csv", "-o", "out.csv", "--local", "-q", "--report"];
  expect(await run(...args, "none/page.html")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("/none does not exist\n") as string,
  });
  expect(await run(...args, "taken.html")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("make the page: repute report out.csv -o taken.html") as string,
  });
});

test("enrich --report writes the same page as report", async () => {
  const { read, run } = await enriched();
  const stderr = expect.stringMatching(/two\.html\n$/);
  expect(await run("report", "out.csv", "-o", "two.html")).toMatchObject({ code: 0, stderr });
  expect(await read("one.html")).toBe(await read("two.html"));
});

test("counts several inputs in the title, and shows their own columns without that of the items", async () => {
  const { read, run } = await workspace({
    "a.csv": "note,host\nsecond,192.0.2.66\n",
    "b.csv": "data,note\n192.0.2.1,first\n",
  });
  const args = ["enrich", "a.csv", "b.csv", "-o", "out.csv", "--local", "-q"];
  expect(await run(...args, "--report", "r.html")).toMatchObject({ code: 0 });
  const page = await read("r.html");
  expect(page).toContain("Reputation report for <bdi>2 inputs</bdi>");
  const cells = [...page.matchAll(/<dt>(\w+)<\/dt>\s*<dd><bdi>([^<]*)<\/bdi>/g)];
  expect(cells.map(([, name, cell]) => [name, cell])).toEqual([
    ["note", "first"],
    ["note", "second"],
  ]);
});

test.each([
  ["page.pdf is not a page", ["-o", "out.csv", "--report", "page.pdf"]],
  ["--report cannot read an output that goes to stdout", ["--report", "page.html"]],
  [
    "the rows of out.ndjson cannot be read back",
    ["-o", "out.ndjson", "--to", "es-bulk", "--report", "page.html"],
  ],
])("enrich says before the run: %s", async (message, flags) => {
  const { run } = await enriched();
  const { code, stderr } = await run("enrich", "in.csv", "--local", ...flags);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("says that the data is invented if the service says so, also after a retry elsewhere", async () => {
  const { run } = await enriched();
  const service = await runningService({ synthetic: 1 });
  const intel = ["--intel-url", service.intelUrl, "--partial-retries", "0", "-q"];
  await run("enrich", "in.csv", "-o", "out.csv", ...intel);
  await run("retry", "out.csv", "-o", "two.csv", "--local", "-q");
  for (const name of ["out.csv", "two.csv"]) {
    expect((await run("report", name)).stdout).toContain("Invented data:");
  }
});

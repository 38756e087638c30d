import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.js";
import { runRepute } from "../../helpers/run-repute.js";
import { copiedFolder, temporaryFolder } from "../../helpers/temporary-folder.js";

const input = `ip,note\n${Array.from({ length: 40 }, (_, n) => `203.0.113.${n},row ${n}`).join("\n")}\n`;

const enrich = ["enrich", "in.csv", "--local", "--synthetic", "1", "--fail-on", "never", "-q"];

/** A folder with an output of invented answers and its page. */
const enriched = copiedFolder(async (cwd) => {
  await writeFile(join(cwd, "in.csv"), input);
  await runRepute([...enrich, "-o", "out.csv", "--report", "one.html"], { cwd });
});

/** The report of an output without the section on the run, which names the output. */
async function printedReport(cwd: string, name: string): Promise<string> {
  const { code, stdout } = await runRepute(["report", name], { cwd });
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
  const cwd = await enriched();
  await runRepute([...enrich, "-o", name, ...flags], { cwd });
  const report = await printedReport(cwd, name);
  expect(report).toMatch(/^Of 40 rows, \d+ are malicious/);
  expect(report).toBe(await printedReport(cwd, "out.csv"));
});

test("a page that cannot be written costs no run, or is made of its rows", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "taken.html"));
  await writeFile(join(cwd, "in.csv"), input);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--local", "-q", "--report"];
  expect(await runRepute([...args, "none/page.html"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("/none does not exist\n") as string,
  });
  expect(await runRepute([...args, "taken.html"], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("make the page: repute report out.csv -o taken.html") as string,
  });
});

test("enrich --report writes the same page as report", async () => {
  const cwd = await enriched();
  const { code, stderr } = await runRepute(["report", "out.csv", "-o", "two.html"], { cwd });
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/two\.html\n$/),
  });
  expect(await readFile(join(cwd, "one.html"), "utf8")).toBe(
    await readFile(join(cwd, "two.html"), "utf8"),
  );
});

test("counts several inputs in the title, and shows their own columns without that of the items", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "a.csv"), "note,host\nsecond,192.0.2.66\n");
  await writeFile(join(cwd, "b.csv"), "data,note\n192.0.2.1,first\n");
  const args = ["enrich", "a.csv", "b.csv", "-o", "out.csv", "--local", "-q"];
  expect(await runRepute([...args, "--report", "r.html"], { cwd })).toMatchObject({ code: 0 });
  const page = await readFile(join(cwd, "r.html"), "utf8");
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
  const cwd = await enriched();
  const args = ["enrich", "in.csv", "--local", ...flags];
  const { code, stderr } = await runRepute(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

const invented = "Invented data:";

test("says that the data is invented if the service says so, also after a retry elsewhere", async () => {
  const cwd = await enriched();
  const service = await startService({ synthetic: 1 });
  onTestFinished(() => service.close());
  const intel = ["--intel-url", service.intelUrl, "--partial-retries", "0", "-q"];
  await runRepute(["enrich", "in.csv", "-o", "out.csv", ...intel], { cwd });
  await runRepute(["retry", "out.csv", "-o", "two.csv", "--local", "-q"], { cwd });
  for (const name of ["out.csv", "two.csv"]) {
    expect((await runRepute(["report", name], { cwd })).stdout).toContain(invented);
  }
});

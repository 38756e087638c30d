import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const input = `ip,note\n${Array.from({ length: 40 }, (_, n) => `203.0.113.${n},row ${n}`).join("\n")}\n`;

/** The report of an output without the section on the run, which names the output. */
async function printedReport(name: string, ...flags: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), input);
  const common = ["--local", "--synthetic", "1", "--fail-on", "never", "-q"];
  await runRepute(["enrich", "in.csv", "-o", name, ...common, ...flags], { cwd });
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
])("the report on %s is that on CSV", async (name, ...flags) => {
  const report = await printedReport(name, ...flags);
  expect(report).toMatch(/^Of 40 rows, \d+ are malicious/);
  expect(report).toBe(await printedReport("out.csv"));
});

test("enrich --report writes the page that report writes", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), input);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--local", "--synthetic", "1", "-q"];
  await runRepute([...args, "--report", "one.html"], { cwd });
  const { code, stderr } = await runRepute(["report", "out.csv", "-o", "two.html"], { cwd });
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/two\.html\n$/),
  });
  expect(await readFile(join(cwd, "one.html"), "utf8")).toBe(
    await readFile(join(cwd, "two.html"), "utf8"),
  );
});

test.each([
  ["page.pdf is not a page", ["-o", "out.csv", "--report", "page.pdf"]],
  ["--report reads the output, which stdout does not keep", ["--report", "page.html"]],
  [
    "the rows of out.ndjson cannot be read back",
    ["-o", "out.ndjson", "--to", "ecs", "--report", "page.html"],
  ],
])("enrich says before the run: %s", async (message, flags) => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), input);
  const args = ["enrich", "in.csv", "--local", ...flags];
  const { code, stderr } = await runRepute(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

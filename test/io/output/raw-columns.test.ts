import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("--raw adds the results as received in the last columns", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n192.0.2.1\nno item\n");
  for (const out of ["out.csv", "out.ndjson"]) {
    const flags = out === "out.ndjson" ? ["--shape", "flat"] : [];
    const args = ["enrich", "in.csv", "-o", out, "--local", "--raw", ...flags];
    const { code, stderr } = await runRepute(args, { cwd });
    expect(code, stderr).toBe(0);
  }
  const nested = await runRepute(["enrich", "in.csv", "-o", "n.ndjson", "--local"], { cwd });
  expect(nested.code).toBe(0);
  const received = (await readFile(join(cwd, "n.ndjson"), "utf8")).split("\n")[0]!;
  const rows: Record<string, string>[] = parse(await readFile(join(cwd, "out.csv"), "utf8"), {
    columns: true,
  });
  expect(Object.keys(rows[0]!).slice(-3)).toEqual(["rep_extra", "rep_query", "rep_quick_check"]);
  expect(received).toContain(`"query":${rows[0]!["rep_query"]},`);
  expect(received).toContain(`"quick_check":${rows[0]!["rep_quick_check"]},`);
  expect(rows[1]).toMatchObject({ rep_query: "", rep_quick_check: "" });
  const [flat] = (await readFile(join(cwd, "out.ndjson"), "utf8")).split("\n");
  const { rep_query: query } = JSON.parse(flat!) as { rep_query: string };
  expect(query).toBe(rows[0]!["rep_query"]);
  expect(await runRepute(["verify", "out.csv"], { cwd })).toMatchObject({ code: 0 });
});

test("refuses --raw for outputs without columns", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "ip\n192.0.2.1\n");
  const args = ["enrich", "in.csv", "-o", "out.ndjson", "--local", "--raw"];
  const { code, stderr } = await runRepute(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("--raw adds columns, and nested NDJSON has none");
});

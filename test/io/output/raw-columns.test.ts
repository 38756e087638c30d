import { expect, test } from "vitest";
import { workspace } from "../../helpers/workspace.js";

test("--raw adds the results as received in the last columns", async () => {
  const { read, records, run } = await workspace({ "in.csv": "ip\n192.0.2.1\nno item\n" });
  for (const out of ["out.csv", "out.ndjson"]) {
    const flags = out === "out.ndjson" ? ["--shape", "flat"] : [];
    const { code, stderr } = await run("enrich", "in.csv", "-o", out, "--local", "--raw", ...flags);
    expect(code, stderr).toBe(0);
  }
  const nested = await run("enrich", "in.csv", "-o", "n.ndjson", "--local");
  expect(nested.code).toBe(0);
  const received = (await read("n.ndjson")).split("\n")[0]!;
  const rows = await records();
  expect(Object.keys(rows[0]!).slice(-3)).toEqual(["rep_extra", "rep_query", "rep_quick_check"]);
  expect(received).toContain(`"query":${rows[0]!["rep_query"]},`);
  expect(received).toContain(`"quick_check":${rows[0]!["rep_quick_check"]},`);
  expect(rows[1]).toMatchObject({ rep_query: "", rep_quick_check: "" });
  const [flat] = (await read("out.ndjson")).split("\n");
  const { rep_query: query } = JSON.parse(flat!) as { rep_query: string };
  expect(query).toBe(rows[0]!["rep_query"]);
  expect(await run("verify", "out.csv")).toMatchObject({ code: 0 });
});

test("refuses --raw for outputs without columns", async () => {
  const { run } = await workspace({ "in.csv": "ip\n192.0.2.1\n" });
  const { code, stderr } = await run("enrich", "in.csv", "-o", "out.ndjson", "--local", "--raw");
  expect(code).toBe(2);
  expect(stderr).toContain("--raw has no effect on out.ndjson: it is for flat rows");
});

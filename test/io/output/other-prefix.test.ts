import { expect, it } from "vitest";
import { workspace } from "../../helpers/workspace.js";

it.each(["again.csv", "again.parquet", "duckdb:again.duckdb?table=t"])(
  "the prefix of %s, whose input has columns of repute, is known from the manifest",
  async (output) => {
    const text = "ip,rep_status,rep_verdict\n192.0.2.1,kept,odd\n";
    const { run } = await workspace({ "in.csv": text });
    const args = ["in.csv", "-o", output, "--local", "--prefix", "x_"];
    const { code, stderr } = await run("enrich", ...args);
    expect(code, stderr).toBe(0);
    expect(await run("verify", output)).toMatchObject({ code: 0 });
    const report = await run("report", output);
    expect(report.stdout).toContain("Of 1 row, 1 is malicious.");
    if (output.startsWith("duckdb:")) return;
    const retried = await run("retry", output, "--local");
    expect(retried.code, retried.stderr).toBe(0);
    expect(await run("verify", output)).toMatchObject({ code: 0 });
  },
);

it.each(["out.csv", "out.ndjson", "out.parquet"])(
  "another --prefix than that of %s is an error, whatever its manifest says",
  async (output) => {
    const { run } = await workspace({ "in.csv": "ip\n192.0.2.1\n" });
    const args = ["in.csv", "-o", output, "--local", "--prefix", "x_"];
    expect((await run("enrich", ...args)).code).toBe(0);
    for (const command of [
      ["report", output],
      ["verify", output],
      ["diff", output, output],
      ["retry", output, "-o", `again.${output}`, "--local"],
    ]) {
      const { code, stdout, stderr } = await run(...command, "--prefix", "zzz_");
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/does not have the columns of an output|has no column zzz_/);
    }
    const report = await run("report", output, "--prefix", "x_");
    expect(report.stdout).toContain("Of 1 row, 1 is malicious.");
  },
);

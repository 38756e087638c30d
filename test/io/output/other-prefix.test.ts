import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

it.each(["again.csv", "again.parquet", "duckdb:again.duckdb?table=t"])(
  "the prefix of %s, whose input has columns of repute, is known from the manifest",
  async (output) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "in.csv"), "ip,rep_status,rep_verdict\n192.0.2.1,kept,odd\n");
    const args = ["enrich", "in.csv", "-o", output, "--local", "--prefix", "x_"];
    const { code, stderr } = await runRepute(args, { cwd });
    expect(code, stderr).toBe(0);
    expect(await runRepute(["verify", output], { cwd })).toMatchObject({ code: 0 });
    const report = await runRepute(["report", output], { cwd });
    expect(report.stdout).toContain("Of 1 row, 1 is malicious.");
    if (output.startsWith("duckdb:")) return;
    const retried = await runRepute(["retry", output, "--local"], { cwd });
    expect(retried.code, retried.stderr).toBe(0);
    expect(await runRepute(["verify", output], { cwd })).toMatchObject({ code: 0 });
  },
);

it.each(["out.csv", "out.ndjson", "out.parquet"])(
  "another --prefix than that of %s is an error, whatever its manifest says",
  async (output) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "in.csv"), "ip\n192.0.2.1\n");
    const args = ["enrich", "in.csv", "-o", output, "--local", "--prefix", "x_"];
    expect((await runRepute(args, { cwd })).code).toBe(0);
    for (const command of [
      ["report", output],
      ["verify", output],
      ["diff", output, output],
      ["retry", output, "-o", `again.${output}`, "--local"],
    ]) {
      const { code, stdout, stderr } = await runRepute([...command, "--prefix", "zzz_"], { cwd });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/does not have the columns of an output|has no column zzz_/);
    }
    const report = await runRepute(["report", output, "--prefix", "x_"], { cwd });
    expect(report.stdout).toContain("Of 1 row, 1 is malicious.");
  },
);

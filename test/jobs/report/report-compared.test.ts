import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { copiedFolder } from "../../helpers/temporary-folder.js";

/** A folder with two nights' outputs. */
const nights = copiedFolder(enrichNights);

async function enrichNights(cwd: string): Promise<void> {
  const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}.example.com`);
  await writeFile(join(cwd, "in.txt"), `${hosts.join("\n")}\n`);
  for (const seed of ["1", "2"]) {
    const args = ["enrich", "in.txt", "-o", `${seed}.csv`, "--local", "--synthetic", seed];
    expect((await runRepute([...args, "--quiet"], { cwd })).code).toBe(0);
  }
}

test("shows the same changes since an earlier output as diff", async () => {
  const cwd = await nights();
  const report = await runRepute(["report", "2.csv", "--against", "1.csv"], { cwd });
  const diff = await runRepute(["diff", "1.csv", "2.csv"], { cwd });
  const [counts = ""] = diff.stdout.split("\n");
  expect([report.code, report.stderr]).toEqual([0, ""]);
  expect(report.stdout).toContain("What changed\n");
  expect(report.stdout.replaceAll(/\s+/g, " ")).toContain(`${counts} since 1.csv`);
});

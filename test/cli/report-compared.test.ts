import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { copiedFolder } from "../helpers/temporary-folder.js";

/** A folder with two nights' outputs and, in `nights`, manifests of earlier ones. */
const nights = copiedFolder(enrichNights);

async function enrichNights(cwd: string): Promise<void> {
  const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}.example.com`);
  await writeFile(join(cwd, "in.txt"), `${hosts.join("\n")}\n`);
  for (const seed of ["1", "2"]) {
    const args = ["enrich", "in.txt", "-o", `${seed}.csv`, "--local", "--synthetic", seed];
    expect((await runRepute([...args, "--quiet"], { cwd })).code).toBe(0);
  }
  await mkdir(join(cwd, "nights"));
  const manifest = JSON.parse(await readFile(join(cwd, "1.csv.manifest.json"), "utf8")) as object;
  for (let day = 1; day <= 6; day++) {
    const started_at = `2026-01-0${day}T02:00:00.000Z`;
    const earlier = {
      ...manifest,
      run_id: `run-${day}`,
      started_at,
      output: { path: "2.csv", rows: 400 },
    };
    await writeFile(join(cwd, "nights", `${day}.manifest.json`), JSON.stringify(earlier));
  }
  await cp(join(cwd, "2.csv.manifest.json"), join(cwd, "nights", "tonight.manifest.json"));
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

test("shows earlier nights and marks what is unusual tonight", async () => {
  const cwd = await nights();
  const text = await runRepute(["report", "2.csv", "--history", "nights"], { cwd });
  expect([text.code, text.stderr]).toEqual([0, ""]);
  expect(text.stdout).toMatch(/^ {2}rows +█{6}▂ +40 {2}usually 400 {2}unusual$/m);
  const args = ["report", "2.csv", "--history", "nights", "-o", "r.html", "--quiet"];
  expect((await runRepute(args, { cwd })).code).toBe(0);
  const page = await readFile(join(cwd, "r.html"), "utf8");
  expect(page).toContain("Night by night");
  expect(page).toContain("7 nights");
});

test.each([
  ["2026-01-09.csv", ["./2026-01-02.csv", "/srv/20260103.csv", "2026-01-04T020000Z.csv.failed"], 4],
  ["a/2026-01-09.csv", ["b/2026-01-02.csv", "2026-01-03.ndjson", "feed-2026-01-04.csv"], 1],
  ["out.csv", ["out.csv", "other.csv", null], 2],
])(
  "--history of %s takes nights of %j as earlier ones if only the date differs",
  async (output, earlier, nightsTaken) => {
    const cwd = await nights();
    const tonight = JSON.parse(await readFile(join(cwd, "2.csv.manifest.json"), "utf8")) as {
      output: object;
    };
    const named = (path: string | null, run_id: string, started_at: string): string =>
      JSON.stringify({ ...tonight, run_id, started_at, output: { ...tonight.output, path } });
    await writeFile(
      join(cwd, "2.csv.manifest.json"),
      named(output, "last", "2026-01-09T02:00:00Z"),
    );
    await mkdir(join(cwd, "history"));
    for (const [day, path] of earlier.entries()) {
      const text = named(path, `run-${day}`, `2026-01-0${day + 1}T02:00:00Z`);
      await writeFile(join(cwd, "history", `${day}.json`), text);
    }
    const args = ["report", "2.csv", "--history", "history", "-o", "r.html", "-q"];
    const { code, stderr } = await runRepute(args, { cwd });
    const warning =
      "repute: warning: history has no earlier night of a/{date}.csv; it has 3 manifests of other outputs\n";
    expect([code, stderr]).toEqual([0, nightsTaken === 1 ? warning : ""]);
    const page = await readFile(join(cwd, "r.html"), "utf8");
    expect(/(\d+) nights?\. Unusual/.exec(page)?.[1]).toBe(String(nightsTaken));
  },
);

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { comparableRows } from "../helpers/comparable-rows.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const objects = Array.from({ length: 7 }, (_, n) => ({ ip: `192.0.2.${n}`, note: "ü" }));
const lines = objects.map(({ ip, note }) => `${ip};${note}`).join("\n");

test.each([
  ["in.json", JSON.stringify({ ok: true, data: objects }, null, 1), []],
  ["in.csv", Buffer.from(`ip;note\n${lines}\n`, "latin1"), ["--encoding", "windows-1252"]],
  ["in.csv", `Weekly list\n2026-11-24\n\nip;note\n${lines}\n`, []],
])("%s in chunks gives the rows of a single run", async (name, content, flags) => {
  const cwd = await temporaryFolder();
  const service = await startAnsweringServer();
  onTestFinished(() => service.close());
  await writeFile(join(cwd, name), content);
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runRepute(args, { cwd });
    expect(code, stderr).toBe(0);
  };
  const url = ["--intel-url", service.url, "--quiet"];
  await run("split", name, "-o", "work", "--to", "csv", "--rows-per-chunk", "3", ...flags);
  for (const chunk of ["0", "1", "2"]) await run("enrich", "work", "--chunk", chunk, ...url);
  await run("merge", "work", "-o", "merged.csv");
  await run("enrich", name, "-o", "one.csv", ...flags, ...url);
  const rowsOf = async (out: string): Promise<readonly string[]> =>
    comparableRows(await readFile(join(cwd, out)), out);
  const one = await rowsOf("one.csv");
  expect(one[1]).toMatch(/192\.0\.2\.0[,;]ü/);
  expect(await rowsOf("merged.csv")).toEqual(one);
});

test("--limit ends a run whose pipe stays open", async () => {
  const cwd = await temporaryFolder();
  const args = ["enrich", "-", "--limit", "2", "--local", "--to", "csv", "-o", "out.csv"];
  const run = startRepute(args, { cwd });
  run.child.stdin?.write("ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n");
  expect(await run.result).toMatchObject({ code: 0 });
  const manifest = JSON.parse(await readFile(join(cwd, "out.csv.manifest.json"), "utf8"));
  expect(manifest).toMatchObject({ sampled: 2, output: { rows: 2 } });
});

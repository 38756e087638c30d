import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { enrichInput, explainInterruption } from "../../../../src/cli/commands/runs/enrich-job.js";
import { EarlyEndError, FatalError, InterruptedError } from "../../../../src/core/errors.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { fakeContext } from "../../fake-context.js";

test.each([[["-"]], [[]]])("%j is stdin", async (operands) => {
  const input = await enrichInput(operands, fakeContext({ stdin: "" }));
  expect(input).toMatchObject({ name: "stdin" });
});

test("no operand is an error if stdin is a terminal", async () => {
  await expect(enrichInput([], fakeContext({ stdin: null }))).rejects.toThrow("no input");
});

test("a folder stands for its files of known formats, sorted by name", async () => {
  const folder = await temporaryFolder();
  const names = ["b.csv", "a.csv.gz", "notes.docx", ".hidden.csv", "x.csv.manifest.json", "c.txt"];
  for (const name of names) {
    await writeFile(join(folder, name), name.endsWith(".gz") ? gzipSync("") : "");
  }
  await mkdir(join(folder, "d.csv"));
  await writeFile(join(folder, "out.csv"), "");
  await symlink("out.csv", join(folder, "newest.csv"));
  const written = { output: join(folder, "newest.csv") };
  const context = fakeContext({ stdin: "" });
  const input = await enrichInput([`${folder}/`, "-"], context, written);
  expect(input).toMatchObject({
    inputs: [
      { name: `${folder}/a.csv.gz`, input: { path: join(folder, "a.csv.gz") } },
      { name: `${folder}/b.csv` },
      { name: `${folder}/c.txt` },
      { name: "-", input: { name: "stdin" } },
    ],
  });
  expect(context.stderr.text).toContain(
    `skipping newest.csv, out.csv in ${folder}/: this run writes it`,
  );
});

test("an interrupted run with saved progress says how to continue", () => {
  expect(explainInterruption(new InterruptedError("SIGTERM"), null, true)).toMatchObject({
    signal: "SIGTERM",
    hint: expect.stringContaining("--resume") as string,
  });
});

test.each([
  [new InterruptedError("SIGINT"), "hint"],
  [new EarlyEndError("deadline_reached", "the deadline 05:30 has passed"), "message"],
  [new FatalError("output_disk_full", "the disk is full"), "hint"],
])("a run that ended early says how far it got (%s)", (error, member) => {
  const reached = "3,456 rows written, 34% done";
  expect(explainInterruption(error, reached, true)).toMatchObject({
    [member]: expect.stringContaining("3,456 rows written, 34% done; ") as string,
  });
});

test("a run that failed keeps its own advice, followed by how to continue", () => {
  const error = new FatalError("output_disk_full", "the disk is full", { hint: "free some space" });
  expect(explainInterruption(error, null, true)).toMatchObject({
    code: "output_disk_full",
    message: "the disk is full",
    hint: expect.stringMatching(/^free some space\n {2}.*--resume$/) as string,
  });
});

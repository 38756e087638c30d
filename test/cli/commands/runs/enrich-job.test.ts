import { mkdir, symlink } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { enrichInput, explainInterruption } from "../../../../src/cli/commands/runs/enrich-job.js";
import { EarlyEndError, FatalError, InterruptedError } from "../../../../src/core/errors.js";
import { workspace } from "../../../helpers/workspace.js";
import { fakeContext } from "../../fake-context.js";

test.each([[["-"]], [[]]])("%j is stdin", async (operands) => {
  const input = await enrichInput(operands, fakeContext({ stdin: "" }));
  expect(input).toMatchObject({ name: "stdin" });
});

test("no operand is an error if stdin is a terminal", async () => {
  await expect(enrichInput([], fakeContext({ stdin: null }))).rejects.toThrow("no input");
});

test("a folder stands for its files of known formats, sorted by name", async () => {
  const names = ["b.csv", "notes.docx", ".hidden.csv", "x.csv.manifest.json", "c.txt", "out.csv"];
  const files = Object.fromEntries(names.map((name) => [name, ""]));
  const { cwd: folder, at } = await workspace({ ...files, "a.csv.gz": gzipSync("") });
  await mkdir(at("d.csv"));
  await symlink("out.csv", at("newest.csv"));
  const written = { output: at("newest.csv") };
  const context = fakeContext({ stdin: "" });
  const input = await enrichInput([`${folder}/`, "-"], context, written);
  expect(input).toMatchObject({
    inputs: [
      { name: `${folder}/a.csv.gz`, input: { path: at("a.csv.gz") } },
      { name: `${folder}/b.csv` },
      { name: `${folder}/c.txt` },
      { name: "-", input: { name: "stdin" } },
    ],
  });
  expect(context.stderr.text).toContain(
    `skipping newest.csv, out.csv in ${folder}/: this run writes it`,
  );
});

const reached = "3,456 rows written, 34% done";
const full = { hint: "free some space" };

test.each([
  [new InterruptedError("SIGTERM"), null, "hint", /--resume/],
  [new InterruptedError("SIGINT"), reached, "hint", /3,456 rows written, 34% done; /],
  [
    new EarlyEndError("deadline_reached", "the deadline 05:30 has passed"),
    reached,
    "message",
    /3,456 rows written, 34% done; /,
  ],
  [
    new FatalError("output_disk_full", "the disk is full", full),
    reached,
    "hint",
    /^free some space\n {2}3,456 rows written, 34% done; .*--resume$/,
  ],
])("%s says how far the run got (%s), and how to continue", (error, far, member, text) => {
  const { code } = error;
  const told = { code, [member]: expect.stringMatching(text) as string };
  expect(explainInterruption(error, far, true)).toMatchObject(told);
});

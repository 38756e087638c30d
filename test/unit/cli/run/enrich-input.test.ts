import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { enrichInput } from "../../../../src/cli/run/enrich-job.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { fakeContext } from "../fake-context.js";

test("an argument is a file", async () => {
  expect(await enrichInput(["a.csv"], fakeContext())).toEqual({ path: "a.csv" });
});

test.each([[["-"]], [[]]])("%j is stdin", async (operands) => {
  const input = await enrichInput(operands, fakeContext({ stdin: "" }));
  expect(input).toMatchObject({ name: "stdin" });
});

test("a dash reads from a terminal", async () => {
  expect(await enrichInput(["-"], fakeContext({ stdin: null }))).toMatchObject({ name: "stdin" });
});

test("no operand is an error if stdin is a terminal", async () => {
  await expect(enrichInput([], fakeContext({ stdin: null }))).rejects.toThrow("no input");
});

test("a folder stands for its files of known formats, sorted by name", async () => {
  const folder = await temporaryFolder();
  const names = [
    "b.csv",
    "a.ndjson.gz",
    "notes.docx",
    ".hidden.csv",
    "x.csv.manifest.json",
    "c.txt",
  ];
  for (const name of names) await writeFile(join(folder, name), "");
  await mkdir(join(folder, "d.csv"));
  const input = await enrichInput([`${folder}/`, "-"], fakeContext({ stdin: "" }));
  expect(input).toMatchObject({
    inputs: [
      { name: `${folder}/a.ndjson.gz`, input: { path: join(folder, "a.ndjson.gz") } },
      { name: `${folder}/b.csv` },
      { name: `${folder}/c.txt` },
      { name: "-", input: { name: "stdin" } },
    ],
  });
});

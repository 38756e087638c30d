import { rmdirSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ExportState } from "../../../src/jobs/tags/folder/export-index.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("starts with nothing of an interrupted export", async () => {
  const folder = await temporaryFolder();
  const next = join(folder, ".export.state", "next");
  await mkdir(next, { recursive: true });
  await writeFile(join(next, "a--b.txt"), "192.0.2.1\n");
  const state = await ExportState.open(folder);
  onTestFinished(() => state.release());
  expect(await readdir(next)).toEqual([".lists"]);
});

test("is opened even if an export that ends removes it at the same moment", async () => {
  const folder = await temporaryFolder();
  const opening = ExportState.open(folder);
  rmdirSync(join(folder, ".export.state"));
  await (await opening).release();
  expect(await readdir(folder)).toEqual([]);
});

test("refuses a second export to the same folder", async () => {
  const folder = await temporaryFolder();
  const state = await ExportState.open(folder);
  onTestFinished(() => state.release());
  await expect(ExportState.open(folder)).rejects.toMatchObject({ code: "output_locked" });
});

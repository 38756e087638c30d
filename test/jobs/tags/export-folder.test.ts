import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, test } from "vitest";
import { ExportFolder, tagFormats } from "../../../src/jobs/tags/export-folder.js";
import { stemOf } from "../../../src/jobs/tags/export-tag.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { exporterOf, readExport } from "./exporting.js";
import { served } from "./tag-server.js";

/** A folder with one export, ready for the next. */
async function anExport() {
  const exporter = await exporterOf({ "a:b": served(["192.0.2.1"]) });
  await exporter.run();
  return exporter;
}

async function plainNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".txt")).sort();
}

const names = ["a--b.added.txt", "a--b.removed.txt", "a--b.txt"];

it("a generation of a killed export that was never current is removed", async () => {
  const { folder, run } = await anExport();
  const { generation } = await readExport(folder);
  const orphan = "generations/20240102T000000Z";
  await cp(join(folder, generation), join(folder, orphan), { recursive: true });
  const index = await readFile(join(folder, orphan, "index.json"), "utf8");
  await writeFile(
    join(folder, orphan, "index.json"),
    index.replace(generation, orphan).replace("null", JSON.stringify(generation)),
  );
  await run();
  expect((await readdir(join(folder, "generations"))).sort()).toEqual([
    ".lock",
    "20240101T000000Z",
    "20240101T000000Z-2",
  ]);
});

it("links of a killed export that dangle are removed, even if there is nothing else to do", async () => {
  const { folder, run } = await anExport();
  await symlink("current/c--d.txt", join(folder, "c--d.txt"));
  await run({ names: [] });
  expect(await plainNames(folder)).toEqual(names);
});

it("foreign files stay", async () => {
  const { folder, run } = await anExport();
  await writeFile(join(folder, "notes.txt"), "mine");
  await symlink("notes.txt", join(folder, "link.txt"));
  await mkdir(join(folder, "generations", "mine"));
  await run();
  expect(await plainNames(folder)).toEqual([...names, "link.txt", "notes.txt"]);
  expect(await readdir(join(folder, "generations"))).toContain("mine");
});

it("a list whose files are gone is reported and dropped if it cannot be kept", async () => {
  const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(["192.0.2.2"]) };
  const { folder, run, warnings } = await exporterOf(lists);
  await run();
  const { generation } = await readExport(folder);
  await rm(join(folder, generation, "c--d.txt"));
  await run({ names: ["a:b"] });
  expect((await readExport(folder)).tags.map(({ name }) => name)).toEqual(["a:b"]);
  expect(warnings).toEqual([expect.stringContaining("c:d")]);
});

test("starts with nothing of an interrupted export, and refuses a second one meanwhile", async () => {
  const folder = await temporaryFolder();
  const next = join(folder, ".export.state", "next");
  await mkdir(next, { recursive: true });
  await writeFile(join(next, "a--b.txt"), "192.0.2.1\n");
  const state = await ExportFolder.open(folder);
  onTestFinished(() => state.release());
  expect(await readdir(next)).toEqual([]);
  await expect(ExportFolder.open(folder)).rejects.toMatchObject({ code: "output_locked" });
});

test.each([
  ["credentials:brute-force", "credentials--brute-force"],
  ["a:b:c", "a--b%3Ac"],
  ["a:../../etc/passwd", "a--..%2F..%2Fetc%2Fpasswd"],
  ["a b:c\n", "a%20b--c%0A"],
  ["ü:é", "%C3%BC--%C3%A9"],
  ["plain", "plain"],
  ["..", "%2E."],
  [".hidden:x", "%2Ehidden--x"],
  ["-rf:x", "%2Drf--x"],
])("%j gets files that start with %s", (tag, stem) => {
  expect(stemOf(tag)).toBe(stem);
});

test.each([
  ["a:b--c", "a--b:c"],
  ["a-:b", "a:-b"],
  ["a:b", "a:B"],
  ["a:b", "a:b.added"],
  ["a:b", "a--b"],
  ["a:b--c", stemOf("a:b--c").replace("--", ":")],
])("%s and %s get files of their own", (one, other) => {
  const files = [one, other].flatMap((tag) =>
    [...tagFormats, "added.txt", "removed.txt"].map((ending) => `${stemOf(tag)}.${ending}`),
  );
  expect(new Set(files).size).toBe(files.length);
});

test.each([0, 1, 2])("a long name is cut, but not within an encoded byte (%i)", (length) => {
  const stem = stemOf("a".repeat(length) + "ü".repeat(300));
  expect(stem).toMatch(/^a*(?:%[0-9A-F]{2})+\.[0-9a-f]{12}$/);
  expect(`${stem}.removed.txt`.length).toBeLessThan(255);
});

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const license =
  "Apache License\nVersion 2.0, January 2004\nhttp://www.apache.org/licenses/\n" +
  "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION\n";

/** Files that hold nothing to look up, why, and their content. */
const others: Readonly<Record<string, readonly [reason: string, content: string]>> = {
  "LICENSE.txt": ["no indicators", license],
  "counts.csv": ["no indicators", "day,count\nMonday,17\nTuesday,3\n"],
  "events.ndjson": ["objects among rows", '{"ip":"192.0.2.9"}\n'],
  "image.csv": ["a PNG image", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"],
  "package.json": ["JSON without a list of objects", '{\n  "url": "https://example.com/"\n}\n'],
  "page.txt": ["an HTML page", "<!doctype html>\n<p>192.0.2.9</p>\n"],
  "notes.md": ["not a file of a known format", "192.0.2.9\n"],
};

const rows: Readonly<Record<string, string>> = {
  "a.csv": "ip,n\n192.0.2.1,1\n",
  "b.csv": "n;domain\n1;example.com\n",
  "c.txt": "192.0.2.2\nnot an item\n",
};

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "in"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(cwd, "in", name), content, "latin1");
  }
  return cwd;
}

async function enriched(cwd: string, args: readonly string[]) {
  const result = await runRepute(["enrich", ...args, "--local", "--resume"], { cwd });
  const path = join(cwd, "out.csv.manifest.json");
  const text = result.code === 0 ? await readFile(path, "utf8") : "{}";
  return { ...result, manifest: JSON.parse(text) as Manifest };
}

test("a folder's files without indicators or of another sort are skipped, named and recorded", async () => {
  const contents = Object.entries(others).map(([name, [, content]]) => [name, content]);
  const cwd = await folderWith({ ...rows, ...Object.fromEntries(contents) });
  const { code, stderr, manifest } = await enriched(cwd, ["in", "-o", "out.csv"]);
  expect(code, stderr).toBe(0);
  expect(manifest.inputs?.map(({ path, rows: read }) => [path, read])).toEqual([
    ["in/a.csv", 1],
    ["in/b.csv", 1],
    ["in/c.txt", 2],
  ]);
  const recorded = Object.entries(others).map(([name, [reason]]) => ({
    path: `in/${name}`,
    reason,
  }));
  expect(manifest.skipped_inputs).toHaveLength(recorded.length);
  expect(manifest.skipped_inputs).toEqual(expect.arrayContaining(recorded));
  expect(stderr).toContain("repute: skipping notes.md in in: not a file of a known format");
  expect(stderr).toContain("warning: skipping LICENSE.txt, counts.csv in in: no indicators");
  expect(stderr).toContain("warning: skipping image.csv in in: a PNG image");
});

test("--quiet hides files of other formats, not files without indicators", async () => {
  const cwd = await folderWith({ ...rows, "LICENSE.txt": license, "notes.md": "" });
  const { stderr } = await enriched(cwd, ["in", "-o", "out.csv", "--quiet"]);
  expect(stderr).toBe("repute: warning: skipping LICENSE.txt in in: no indicators\n");
});

test("rows among objects are skipped where most files, or those named, are objects", async () => {
  const json = { "x.json": '{"ip":"192.0.2.1"}\n', "y.json": '{"ip":"192.0.2.2"}\n' };
  const cwd = await folderWith({ "a.csv": rows["a.csv"]!, ...json });
  const most = await enriched(cwd, ["in", "-o", "out.csv"]);
  expect(most.manifest).toMatchObject({
    input: { format: "ndjson", rows: 2 },
    skipped_inputs: [{ path: "in/a.csv", reason: "rows among objects" }],
  });
  await writeFile(join(cwd, "named.csv"), rows["a.csv"]!);
  const named = await enriched(cwd, ["in", "named.csv", "-o", "out.csv"]);
  expect(named.manifest).toMatchObject({
    input: { format: "csv", rows: 2 },
    skipped_inputs: [
      { path: "in/x.json", reason: "objects among rows" },
      { path: "in/y.json", reason: "objects among rows" },
    ],
  });
});

test.each([
  ["LICENSE.txt", "fewer than half of its first lines are indicators"],
  ["counts.csv", "no column has indicators"],
  ["events.ndjson", "one run reads either objects or rows"],
  ["image.csv", "is a PNG image"],
])("a file that is named itself is an error: %s", async (name, message) => {
  const cwd = await folderWith({ ...rows, [name]: others[name]![1] });
  const { code, stderr } = await enriched(cwd, ["in/a.csv", `in/${name}`, "-o", "out.csv"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("a folder with nothing to look up is an error", async () => {
  const cwd = await folderWith({ "LICENSE.txt": license });
  await writeFile(join(cwd, "a.csv"), rows["a.csv"]!);
  const { code, stderr } = await enriched(cwd, ["a.csv", "in", "-o", "out.csv"]);
  expect(code).toBe(2);
  expect(stderr).toContain("in has no file to read\n  skipping LICENSE.txt in in: no indicators");
});

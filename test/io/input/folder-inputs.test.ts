import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "csv-parse/sync";
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

/** Files in `in`, or in other folders by name. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    const file = join(cwd, path.startsWith("in/") ? path : `in/${path}`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, "latin1");
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
    input: { rows: 2 },
    inputs: [{ format: "ndjson" }, { format: "ndjson" }],
    skipped_inputs: [{ path: "in/a.csv", reason: "rows among objects" }],
  });
  await writeFile(join(cwd, "named.csv"), rows["a.csv"]!);
  const named = await enriched(cwd, ["in", "named.csv", "-o", "out.csv"]);
  expect(named.manifest).toMatchObject({
    input: { rows: 2 },
    inputs: [{ format: "csv" }, { format: "csv" }],
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

/** Files of a tree. Two have the same name. */
const tree: Readonly<Record<string, string>> = {
  "in/a.csv": "domain\nh-1.example.com\nh-2.example.com\n",
  "in/b/a.csv": "domain\nh-3.example.com\nh-4.example.com\n",
  "in/b/c/x.txt": "h-5.example.com\nh-6.example.com\n",
  "in/b-c.csv": "domain\nh-7.example.com\n",
};

const inOrder = ["in/a.csv", "in/b-c.csv", "in/b/a.csv", "in/b/c/x.txt"];

async function filesOfRows(cwd: string, output: string): Promise<readonly string[]> {
  const rows = parse<Record<string, string>>(await readFile(join(cwd, output)), { columns: true });
  return [...new Set(rows.map((row) => row["rep_file"] ?? ""))];
}

async function manifestOf(cwd: string, output: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(cwd, `${output}.manifest.json`), "utf8")) as Manifest;
}

test("reads the files of subfolders in the order of their paths", async () => {
  const cwd = await folderWith({ ...tree, "in/.git/x.csv": "ip\n192.0.2.1\n" });
  await symlink("..", join(cwd, "in/b/up"));
  const args = ["enrich", "in", "--recursive", "-o", "out.csv", "--local"];
  const { code, stderr } = await runRepute([...args, "--fail-on", "never"], { cwd });
  expect(code, stderr).toBe(0);
  expect(await filesOfRows(cwd, "out.csv")).toEqual(inOrder);
  const manifest = await manifestOf(cwd, "out.csv");
  expect(manifest.inputs?.map(({ path, rows }) => [path, rows])).toEqual([
    ["in/a.csv", 2],
    ["in/b-c.csv", 1],
    ["in/b/a.csv", 2],
    ["in/b/c/x.txt", 2],
  ]);
  expect(manifest.skipped_inputs).toEqual([
    { path: "in/.git", reason: "a hidden folder" },
    { path: "in/b/up", reason: "a link to a folder" },
  ]);
  expect(stderr).toContain("repute: skipping .git in in: a hidden folder\n");
  expect(stderr).toContain("repute: skipping b/up in in: a link to a folder\n");
  expect(await runRepute(["verify", "out.csv"], { cwd })).toMatchObject({ code: 0 });
});

test.each([["enrich"], ["plan"], ["extract"], ["schema", "--format", "postgres"]])(
  "%s says that a folder has only subfolders, and reads them with --recursive",
  async (...args) => {
    const cwd = await folderWith({ "in/b/a.csv": tree["in/b/a.csv"]! });
    const without = await runRepute([...args, "in"], { cwd });
    expect(without.code).toBe(2);
    expect(without.stderr).toMatch(
      /^repute: in has no file.*, but subfolders\n {2}add --recursive to read the files in them\n/,
    );
    const local = args[0] === "enrich" ? ["--local", "--fail-on", "never"] : [];
    const { code, stderr } = await runRepute([...args, "in", "--recursive", ...local], { cwd });
    expect(code, stderr).toBe(0);
  },
);

test("a nightly run into its own tree reads no output of an earlier night", async () => {
  const cwd = await folderWith({
    ...tree,
    "in/killed.csv.state/run.db": "",
    "in/killed.csv.state/input.csv": "domain\nh-9.example.com\n",
  });
  const flags = ["--recursive", "--local", "--fail-on", "never"];
  const runOf = (...output: readonly string[]) =>
    runRepute(["enrich", "in", ...flags, "-o", ...output], { cwd });
  expect(await runOf("in/b/monday.csv")).toMatchObject({ code: 0 });
  const { code, stderr } = await runOf("in/b/tuesday.csv");
  expect(code, stderr).toBe(0);
  expect(await filesOfRows(cwd, "in/b/tuesday.csv")).toEqual(inOrder);
  expect((await manifestOf(cwd, "in/b/tuesday.csv")).skipped_inputs).toEqual([
    { path: "in/b/monday.csv", reason: "an output of repute" },
    { path: "in/b/monday.csv.manifest.json", reason: "a run wrote it beside its output" },
    { path: "in/killed.csv.state", reason: "the state of a run" },
  ]);
  // The second time, its own output is there.
  expect(await runOf("in/b/tuesday.csv")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("skipping b/tuesday.csv in in: this run writes it") as string,
  });
  expect(await filesOfRows(cwd, "in/b/tuesday.csv")).toEqual(inOrder);
});

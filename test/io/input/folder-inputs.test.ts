import { symlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { workspace, type Workspace } from "../../helpers/workspace.js";

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
async function folderWith(files: Readonly<Record<string, string>>) {
  const place = await workspace();
  for (const [path, content] of Object.entries(files)) {
    const name = path.startsWith("in/") ? path : `in/${path}`;
    await place.write(name, Buffer.from(content, "latin1"));
  }
  const enriched = async (...args: readonly string[]) => {
    const output = ["-o", "out.csv", "--local", "--resume"];
    const result = await place.run("enrich", ...args, ...output);
    const manifest = result.code === 0 ? await place.manifest() : null;
    return { ...result, manifest };
  };
  return { ...place, enriched };
}

test("a folder's files without indicators or of another sort are skipped, named and recorded", async () => {
  const contents = Object.entries(others).map(([name, [, content]]) => [name, content]);
  const { enriched } = await folderWith({ ...rows, ...Object.fromEntries(contents) });
  const { code, stderr, manifest } = await enriched("in");
  expect(code, stderr).toBe(0);
  expect(manifest?.inputs?.map(({ path, rows: read }) => [path, read])).toEqual([
    ["in/a.csv", 1],
    ["in/b.csv", 1],
    ["in/c.txt", 2],
  ]);
  const recorded = Object.entries(others).map(([name, [reason]]) => ({
    path: `in/${name}`,
    reason,
  }));
  expect(manifest?.skipped_inputs).toHaveLength(recorded.length);
  expect(manifest?.skipped_inputs).toEqual(expect.arrayContaining(recorded));
  expect(stderr).toContain("repute: skipping notes.md in in: not a file of a known format");
  expect(stderr).toContain("warning: skipping LICENSE.txt, counts.csv in in: no indicators");
  expect(stderr).toContain("warning: skipping image.csv in in: a PNG image");
});

test("--quiet hides files of other formats, not files without indicators", async () => {
  const { enriched } = await folderWith({ ...rows, "LICENSE.txt": license, "notes.md": "" });
  const { stderr } = await enriched("in", "--quiet");
  expect(stderr).toBe("repute: warning: skipping LICENSE.txt in in: no indicators\n");
});

test("rows among objects are skipped where most files, or those named, are objects", async () => {
  const json = { "x.json": '{"ip":"192.0.2.1"}\n', "y.json": '{"ip":"192.0.2.2"}\n' };
  const { enriched, write } = await folderWith({ "a.csv": rows["a.csv"]!, ...json });
  const most = await enriched("in");
  expect(most.manifest).toMatchObject({
    input: { rows: 2 },
    inputs: [{ format: "ndjson" }, { format: "ndjson" }],
    skipped_inputs: [{ path: "in/a.csv", reason: "rows among objects" }],
  });
  await write("named.csv", rows["a.csv"]!);
  const named = await enriched("in", "named.csv");
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
  const { enriched } = await folderWith({ ...rows, [name]: others[name]![1] });
  const { code, stderr } = await enriched("in/a.csv", `in/${name}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("a folder with nothing to look up is an error", async () => {
  const { enriched, write } = await folderWith({ "LICENSE.txt": license });
  await write("a.csv", rows["a.csv"]!);
  const { code, stderr } = await enriched("a.csv", "in");
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

async function filesOfRows({ records }: Workspace, output?: string): Promise<readonly string[]> {
  return [...new Set((await records(output)).map((row) => row["rep_file"] ?? ""))];
}

test("reads the files of subfolders in the order of their paths", async () => {
  const place = await folderWith({ ...tree, "in/.git/x.csv": "ip\n192.0.2.1\n" });
  await symlink("..", place.at("in/b/up"));
  const args = ["enrich", "in", "--recursive", "-o", "out.csv", "--local"];
  const { code, stderr } = await place.run(...args, "--fail-on", "never");
  expect(code, stderr).toBe(0);
  expect(await filesOfRows(place)).toEqual(inOrder);
  const manifest = await place.manifest();
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
  expect(await place.run("verify", "out.csv")).toMatchObject({ code: 0 });
});

test.each([["enrich"], ["plan"], ["extract"], ["schema", "--format", "postgres"]])(
  "%s says that a folder has only subfolders, and reads them with --recursive",
  async (...args) => {
    const { run } = await folderWith({ "in/b/a.csv": tree["in/b/a.csv"]! });
    const without = await run(...args, "in");
    expect(without.code).toBe(2);
    expect(without.stderr).toMatch(
      /^repute: in has no file.*\n {2}read is .*: add --recursive for those in subfolders, or name /,
    );
    const local = args[0] === "enrich" ? ["--local", "--fail-on", "never"] : [];
    const { code, stderr } = await run(...args, "in", "--recursive", ...local);
    expect(code, stderr).toBe(0);
  },
);

test("a nightly run into its own tree reads no output of an earlier night", async () => {
  const place = await folderWith({
    ...tree,
    "in/killed.csv.state/run.db": "",
    "in/killed.csv.state/input.csv": "domain\nh-9.example.com\n",
  });
  const flags = ["--recursive", "--local", "--fail-on", "never"];
  const runOf = (...output: readonly string[]) =>
    place.run("enrich", "in", ...flags, "-o", ...output);
  expect(await runOf("in/b/monday.csv")).toMatchObject({ code: 0 });
  const { code, stderr } = await runOf("in/b/tuesday.csv");
  expect(code, stderr).toBe(0);
  expect(await filesOfRows(place, "in/b/tuesday.csv")).toEqual(inOrder);
  expect((await place.manifest("in/b/tuesday.csv")).skipped_inputs).toEqual([
    { path: "in/b/monday.csv", reason: "an output of repute" },
    { path: "in/b/monday.csv.manifest.json", reason: "a run wrote it beside its output" },
    { path: "in/killed.csv.state", reason: "the state of a run" },
  ]);
  // The second time, its own output is there.
  expect(await runOf("in/b/tuesday.csv")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("skipping b/tuesday.csv in in: this run writes it") as string,
  });
  expect(await filesOfRows(place, "in/b/tuesday.csv")).toEqual(inOrder);
});

import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** Files of a tree. Two have the same name. */
const tree: Readonly<Record<string, string>> = {
  "in/a.csv": "domain\nh-1.example.com\nh-2.example.com\n",
  "in/b/a.csv": "domain\nh-3.example.com\nh-4.example.com\n",
  "in/b/c/x.txt": "h-5.example.com\nh-6.example.com\n",
  "in/b-c.csv": "domain\nh-7.example.com\n",
};

const inOrder = ["in/a.csv", "in/b-c.csv", "in/b/a.csv", "in/b/c/x.txt"];

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  return cwd;
}

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

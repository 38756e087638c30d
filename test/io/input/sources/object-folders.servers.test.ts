import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { done, objectTests } from "../../output/object/object-tests.js";

const tests = await objectTests();
const { store, enrich, repute } = tests;

/** Rows as text without the times of the run. */
async function rowsIn(name: string): Promise<readonly string[]> {
  const text = await readFile(join(tests.cwd, name), "utf8");
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .trimEnd()
    .split("\n");
}

test("reads the objects under a prefix in order, page by page", async () => {
  const { key, cwd } = tests;
  store.pageSize = 2;
  const files = { "b.csv": "n,ip\n3,192.0.2.3\n", "a.tsv": "ip\tn\n192.0.2.1\t1\n192.0.2.2\t2\n" };
  for (const [name, content] of Object.entries(files)) await store.put(`${key}/${name}`, content);
  const others = ["", "notes.md", "sub/c.csv", ".hidden.csv"];
  for (const name of others) await store.put(`${key}/${name}`, "");
  const args = ["enrich", `s3://lake/${key}/`, "-o", "all.csv", "--local", "--fail-on", "never"];
  const run = await repute(args);
  expect(run).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      new RegExp(
        `skipping .hidden.csv in s3://lake/${key}/: hidden\n` +
          `.*skipping notes.md in .*: not a file of a known format\n` +
          `.*skipping sub in .*: a subfolder, which --recursive reads\n`,
      ),
    ),
  });
  const [header = "", ...rows] = await rowsIn("all.csv");
  const cells = rows.map((row) => row.split(","));
  expect(cells.map(([ip, n]) => [ip, n])).toEqual([
    ["192.0.2.1", "1"],
    ["192.0.2.2", "2"],
    ["192.0.2.3", "3"],
  ]);
  const place = header.split(",").indexOf("rep_file");
  const names = ["a.tsv", "a.tsv", "b.csv"].map((name) => `s3://lake/${key}/${name}`);
  expect(cells.map((row) => row[place])).toEqual(names);
  const own = `s3://lake/${key}/`;
  expect(await enrich(own, own, "--to", "csv")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`the output ${own} is a folder`),
  });
  expect((await readdir(cwd)).sort()).toEqual(["all.csv", "all.csv.manifest.json"]);

  // A bucket is the folder of the objects without a slash in their keys.
  await store.put("top.csv", "ip\n192.0.2.4\n");
  for (const name of ["s3://lake/", "s3://lake"]) {
    expect(await repute(["plan", name, "--json"])).toMatchObject({ code: 0 });
    expect(await enrich(name, "top.csv")).toMatchObject({ code: 0 });
    const [, row = ""] = await rowsIn("top.csv");
    expect(row).toMatch(/^192\.0\.2\.4,.*s3:\/\/lake\/top\.csv/);
    await rm(join(cwd, "top.csv"));
  }
  await store.remove("top.csv");
});

test("reads the objects under deeper keys with --recursive, in the order of their keys", async () => {
  const { key } = tests;
  store.pageSize = 2;
  const rows = { "a.csv": 1, "a/b/x.csv": 2, "a-b.csv": 3, "a/y.csv": 4, "b//z.csv": 5 };
  for (const [name, n] of Object.entries(rows)) {
    await store.put(`${key}/${name}`, `ip\n192.0.2.${n}\n`);
  }
  const others = ["", "a/", ".git/x.csv", "a/.hidden/x.csv", "a/notes.md", "a/out.csv"];
  for (const name of others) await store.put(`${key}/${name}`, "ip\n192.0.2.9\n");
  await store.put(`${key}/a/out.csv.manifest.json`, "{}");
  store.requests.length = 0;
  const args = ["enrich", `s3://lake/${key}/`, "--recursive", "-o", "all.csv", "--local"];
  const run = await repute([...args, "--fail-on", "never"]);
  expect(run).toMatchObject({ code: 0 });
  const [header = "", ...lines] = await rowsIn("all.csv");
  const place = header.split(",").indexOf("rep_file");
  const inOrder = ["a-b.csv", "a.csv", "a/b/x.csv", "a/y.csv", "b//z.csv"];
  expect(lines.map((line) => line.split(",")[place])).toEqual(
    inOrder.map((name) => `s3://lake/${key}/${name}`),
  );
  expect(run.stderr).toContain("skipping .git, a/.hidden in ");
  expect(run.stderr).toContain("skipping a/out.csv in ");
  // Pages of two of its twelve objects, not a listing for each folder.
  const listings = store.requests.filter((request) => request.includes("list-type=2"));
  expect(listings).toHaveLength(6);

  const only = `s3://lake/${key}/b/`;
  expect(await repute(["plan", only])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("add --recursive for those in subfolders"),
  });
});

test("continues in the object where it stopped, and takes over the answers for other versions", async () => {
  const { key } = tests;
  const service = await startAnsweringServer();
  for (const [n, name] of ["a.csv", "b.csv", "c.csv"].entries()) {
    const rows = Array.from({ length: 4 }, (_, row) => `h-${4 * n + row}.example.com\n`);
    await store.put(`${key}/${name}`, `domain\n${rows.join("")}`);
  }
  const flags = ["--intel-url", service.url, "--rate", "1000000/s", "--lookups", "query"];
  const run = (...more: readonly string[]) =>
    repute(["enrich", `s3://lake/${key}/`, "-o", "all.csv", "--quiet", ...flags, ...more]);
  expect(await run("--max-requests", "6")).toMatchObject({ code: 75 });
  expect(await run("--resume", "--max-requests", "2")).toMatchObject({ code: 75 });
  expect(service.total).toBe(8);
  const b = await store.get(`${key}/b.csv`);
  await store.put(`${key}/b.csv`, b.toString().replace("h-5.", "h-12."));
  // The four that are left, and the one that is new.
  expect(await run("--resume")).toMatchObject(done);
  expect(service.total).toBe(13);
  expect(await enrich(`s3://lake/${key}/none/`, "none.csv")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no file of a known format"),
  });
});

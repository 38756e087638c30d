import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { type ObjectTests, useObjectStore } from "./object-tests.js";

let tests: ObjectTests;
let store: ObjectTests["store"];
let cwd: string;
let key: string;
let lists: string;
let clock: Clock;

useObjectStore((given) => {
  tests = given;
  ({ store, cwd, key } = tests);
  lists = `s3://lake/${key}/`;
  store.pageSize = 3;
  clock = systemClock;
});

const repute = (...args: readonly string[]) => tests.repute(args, { clock });

const exportLists = (...args: readonly string[]) =>
  repute("tags", "export", "-o", lists, "--local", "--quiet", ...args);

/** A clock with which all exports are made in the same second. */
function withinOneSecond(): Clock {
  let now = Date.UTC(2026, 2, 1);
  return { ...systemClock, now: () => now++ };
}

const snowshoe = "spam:snowshoe";
const bruteForce = "credentials:brute-force";

/** Keys beside `index.json`, without those of generations. */
async function copies(): Promise<readonly string[]> {
  const names = (await store.keys(`${key}/`)).map((name) => name.slice(key.length + 1));
  return names.filter((name) => !name.includes("/"));
}

async function generations(): Promise<readonly string[]> {
  const names = (await store.keys(`${key}/generations/`)).map((name) => name.split("/")[2]!);
  return [...new Set(names)];
}

async function index() {
  return JSON.parse((await store.get(`${key}/index.json`)).toString()) as {
    readonly generation: string;
    readonly tags: readonly {
      readonly name: string;
      readonly status: string;
      readonly files: readonly { readonly file: string; readonly sha256: string }[];
    }[];
  };
}

async function expectWhole(): Promise<void> {
  const { generation, tags } = await index();
  for (const { file, sha256 } of tags.flatMap(({ files }) => files)) {
    for (const name of [file, `${generation}/${file}`]) {
      const content = await store.get(`${key}/${name}`);
      expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    }
  }
}

const namesOf = (stem: string) =>
  ["added.txt", "removed.txt", "txt"].map((end) => `${stem}.${end}`);

test("exports lists, keeps those of other tags, and prunes", async () => {
  expect(await exportLists(snowshoe)).toMatchObject({ code: 0, stderr: "" });
  expect(await copies()).toEqual(["index.json", ...namesOf("spam--snowshoe")]);
  await expectWhole();
  expect(await exportLists(bruteForce)).toMatchObject({ code: 0, stderr: "" });
  expect((await index()).tags.map(({ name, status }) => [name, status])).toEqual([
    [bruteForce, "exported"],
    [snowshoe, "kept"],
  ]);
  await expectWhole();
  expect(await exportLists(snowshoe, "--prune", "--keep", "1")).toMatchObject({ code: 0 });
  expect((await index()).tags).toMatchObject([{ name: snowshoe, status: "unchanged" }]);
  expect(await copies()).toEqual(["index.json", ...namesOf("spam--snowshoe")]);
  expect(await generations()).toHaveLength(1);
  await expectWhole();
  expect(await readdir(cwd)).toEqual([]);
});

test("removes what an export on another machine was killed before removing", async () => {
  expect(await exportLists(snowshoe, bruteForce)).toMatchObject({ code: 0 });
  store.fault = ({ method }) => (method === "DELETE" ? "denied" : null);
  const other = await temporaryFolder();
  const pruned = ["tags", "export", snowshoe, "-o", lists, "--local", "--quiet", "--prune"];
  const killed = await runRepute(pruned, { cwd: other, env: store.env });
  expect(killed).toMatchObject({ code: 1, stderr: expect.stringContaining("AccessDenied") });
  store.fault = () => null;
  expect(await copies()).toContain("credentials--brute-force.txt");
  expect(await exportLists(snowshoe, "--prune")).toMatchObject({ code: 0, stderr: "" });
  expect(await copies()).toEqual(["index.json", ...namesOf("spam--snowshoe")]);
  expect(await exportLists(bruteForce)).toMatchObject({ code: 0, stderr: "" });
  await expectWhole();
});

test("exports the tags of a run beside its rows, and those seen in an object", async () => {
  const dump = join(cwd, "dump.csv");
  await writeFile(dump, "ip\n192.0.2.1\n");
  const out = `s3://lake/${key}-rows.csv`;
  const run = await repute("enrich", dump, "-o", out, "--local", "--quiet", "--tag-ips", lists);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const manifest = JSON.parse((await store.get(`${key}-rows.csv.manifest.json`)).toString()) as {
    readonly tag_exports: readonly { readonly files: readonly string[] }[];
  };
  expect(manifest.tag_exports.length).toBeGreaterThan(0);
  for (const file of manifest.tag_exports.flatMap(({ files }) => files)) {
    expect(await store.etag(file.replace("s3://lake/", ""))).not.toBeNull();
  }
  await expectWhole();
  const before = await index();
  expect(await exportLists("--seen-in", out)).toMatchObject({ code: 0, stderr: "" });
  expect((await index()).generation).not.toBe(before.generation);
  expect(await readdir(cwd)).toEqual(["dump.csv"]);
});

test.each([
  ["a list of the generation", /generations\/.*\.txt/],
  ["the index", /^\/lake\/key-\d+\/index\.json/],
  ["a copy of a list", /^\/lake\/key-\d+\/spam--snowshoe\.txt/],
])("readers see the earlier or the new export when %s cannot be written", async (_, refused) => {
  expect(await exportLists(snowshoe)).toMatchObject({ code: 0 });
  store.fault = ({ method, path }) => (method === "PUT" && refused.test(path) ? "denied" : null);
  const failed = await exportLists(snowshoe, bruteForce);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("AccessDenied") });
  const { generation, tags } = await index();
  for (const { file, sha256 } of tags.flatMap(({ files }) => files)) {
    const content = await store.get(`${key}/${generation}/${file}`);
    expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
  }
  store.fault = () => null;
  expect(await exportLists(snowshoe, bruteForce)).toMatchObject({ code: 0, stderr: "" });
  expect((await index()).tags).toHaveLength(2);
  await expectWhole();
  expect(await readdir(cwd)).toEqual([]);
});

test("an export that another one has overtaken changes nothing", async () => {
  clock = withinOneSecond();
  expect(await exportLists(snowshoe)).toMatchObject({ code: 0 });
  const mine = (await store.get(`${key}/index.json`)).toString();
  let isFirst = true;
  store.fault = async ({ method, path }) => {
    if (method === "PUT" && path.startsWith(`/lake/${key}/index.json`) && isFirst) {
      isFirst = false;
      await store.put(`${key}/index.json`, `${mine} `);
    }
    return null;
  };
  const late = await exportLists(bruteForce);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("published meanwhile") });
  expect((await store.get(`${key}/index.json`)).toString()).toBe(`${mine} `);
  expect(await copies()).toEqual(["index.json", ...namesOf("spam--snowshoe")]);
  expect(await exportLists(bruteForce)).toMatchObject({ code: 0, stderr: "" });
  await expectWhole();
  expect(await readdir(cwd)).toEqual([]);
});

test("survives throttling and resets, and leaves foreign objects alone", async () => {
  await store.put(`${key}/spam--snowshoe.txt`, "mine");
  const faults = ["reset", "slow down", null, null, null] as const;
  let request = 0;
  store.fault = () => faults[request++ % faults.length] ?? null;
  const run = await exportLists(bruteForce, snowshoe);
  expect(run).toMatchObject({ code: 3, stderr: expect.stringContaining("spam--snowshoe") });
  store.fault = () => null;
  expect((await store.get(`${key}/spam--snowshoe.txt`)).toString()).toBe("mine");
  await store.put(`${key}/index.json`, "{}");
  const foreign = await exportLists(bruteForce);
  expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining("index.json") });
});

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { startRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { done, objectTests } from "./object-tests.js";

const tests = await objectTests();
const { store, repute: run } = tests;
let service: AnsweringServer;

/** The arguments of a run of 30 rows into an object. */
async function prepared(): Promise<readonly string[]> {
  service = await startAnsweringServer();
  const rows = Array.from({ length: 28 }, (_, n) => `h-${n + 1}.example.com\n`);
  await writeFile(join(tests.cwd, "in.csv"), `domain\n${rows.join("")}no item\nsetup.exe\n`);
  const own = ["--lookups", "query", "--intel-url", service.url, "--rate", "1000000/s"];
  const args = ["enrich", join(tests.cwd, "in.csv"), "-o", `s3://lake/${tests.key}/rows.csv`];
  return [...args, ...own, "--quiet", "--fail-on", "never", "--item-column", "domain"];
}

/** The manifest, which is that of what is there: nothing else is. */
async function published(): Promise<Manifest> {
  const { key } = tests;
  const note = "rows.csv.manifest.json";
  const manifest = JSON.parse((await store.get(`${key}/${note}`)).toString()) as Manifest;
  const keys = ["rows.csv", note].map((own) => `${key}/${own}`);
  expect(await store.keys(`${key}/`)).toEqual(keys);
  expect(await run(["verify", `s3://lake/${key}/rows.csv`])).toMatchObject({ code: 0 });
  return manifest;
}

test("of two runs at once, one is there, whole, and the other says so", async () => {
  const args = await prepared();
  expect(await run(args)).toMatchObject(done);
  const ends = new Set<number | null>();
  for (let at = 0, isOver = false; !isOver; at++) {
    const [first, second] = [await temporaryFolder(), await temporaryFolder()];
    let writes = 0;
    let other: Awaited<ReturnType<typeof run>> | null = null;
    store.fault = async ({ method }) => {
      if (method === "GET" || method === "HEAD" || writes++ !== at) return null;
      const { child, result } = startRepute(args, { cwd: second, env: store.env });
      child.stdin?.end();
      other = await result;
      return null;
    };
    const ended = await run(args, { cwd: first });
    store.fault = () => null;
    isOver = other === null;
    if (isOver) break;
    expect(other).toMatchObject(done);
    const there = await published();
    ends.add(ended.code);
    expect(await readdir(second)).toEqual([]);
    if (ended.code === 0) continue;
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another run has written"),
    });
    const asked = service.total;
    expect(await run([...args, "--resume"], { cwd: first })).toMatchObject(done);
    expect(service.total).toBe(asked);
    expect((await published()).run_id).not.toBe(there.run_id);
    expect(await readdir(first)).toEqual([]);
  }
  expect(ends.has(1)).toBe(true);
});

test("finds the other run in a store without conditional writes, too", async () => {
  const args = await prepared();
  expect(await run(args)).toMatchObject(done);
  const asked = service.total;
  const second = await temporaryFolder();
  const others: (number | null)[] = [];
  let isStarted = false;
  store.fault = async ({ isConditional, path }) => {
    const isUpload = service.total === asked + 28 && path.endsWith("rows.csv");
    if (isUpload && !isStarted) {
      isStarted = true;
      const { child, result } = startRepute(args, { cwd: second, env: store.env });
      child.stdin?.end();
      others.push((await result).code);
    }
    return isConditional ? "not implemented" : null;
  };
  const ended = await run(args);
  store.fault = () => null;
  expect(others).toEqual([0]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("another run has") });
  await published();
});

test.each(["lost answer", "not implemented"] as const)(
  "a conditional write with %s succeeds",
  async (fault) => {
    const args = await prepared();
    // First there is nothing to replace.
    for (let night = 0; night < 2; night++) {
      store.fault = ({ isConditional, path }) => {
        if (!isConditional || (fault === "lost answer" && seen.has(path))) return null;
        seen.add(path);
        return fault;
      };
      const seen = new Set<string>();
      expect(await run(args)).toMatchObject(done);
      store.fault = () => null;
      await published();
    }
  },
);

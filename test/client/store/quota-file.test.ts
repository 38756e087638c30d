import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { Quota } from "../../../src/client/pace/quota.js";
import type { QuotaStore } from "../../../src/client/pace/quota.js";
import { quotaPath, readQuotas, openQuotas } from "../../../src/client/store/quotas.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const day = 86_400_000;
const service = "https://intel.example/beta";

/** A folder of counts and the warnings of its stores. */
async function counted() {
  const stateFolder = await temporaryFolder();
  const warnings: string[] = [];
  const clock = new ManualClock();
  const store = (address = service) => {
    const where = { stateFolder, service: address };
    const opened = openQuotas(where, (text) => warnings.push(text));
    onTestFinished(() => opened.close());
    return opened;
  };
  const path = quotaPath({ stateFolder, service });
  return { stateFolder, folder: dirname(path), path, warnings, clock, store };
}

/** Spends up to `most` requests of a daily quota and releases the rest. */
function spend(store: QuotaStore, clock: ManualClock, count: number, most = count): number {
  const quota = new Quota({ count, perMs: day }, store, clock);
  let spent = 0;
  for (; spent < most && quota.wait() === 0; spent++) quota.spend();
  quota.giveBack();
  return spent;
}

describe("a quota counted in a folder", () => {
  test("is shared by all spellings of an address but not by other paths", async () => {
    const { clock, store } = await counted();
    spend(store("https://INTEL.example:443/beta/"), clock, 10, 3);
    spend(store("https://user:word@intel.example/beta?key=word#top"), clock, 10, 3);
    expect(spend(store(), clock, 10)).toBe(4);
    expect(spend(store("https://intel.example/"), clock, 10)).toBe(10);
    expect(spend(store("http://intel.example/beta"), clock, 10)).toBe(10);
  });

  test("hides secrets of the address and is private to the owner", async () => {
    const { clock, store, folder } = await counted();
    spend(store("https://user:s3cret@intel.example/s3cret/beta?key=s3cret"), clock, 10);
    const [name = ""] = await readdir(folder);
    expect(name + (await readFile(join(folder, name), "utf8"))).not.toMatch(/s3cret|user/);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test("survives a half-finished change of a killed process", async () => {
    const { clock, store, path, warnings } = await counted();
    spend(store(), clock, 10, 3);
    // A tiny page cache makes SQLite write to the file before it commits.
    const killed = `
      import { DatabaseSync } from "@photostructure/sqlite";
      const database = new DatabaseSync(${JSON.stringify(path)});
      database.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(1e5))");
      process.kill(process.pid, "SIGKILL");`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", killed]);
    await expect(run).rejects.toMatchObject({ signal: "SIGKILL" });
    expect((await stat(`${path}-journal`)).size).toBeGreaterThan(0);
    expect(spend(store(), clock, 10)).toBe(7);
    expect(warnings).toEqual([]);
  });

  test("is exact when four processes share it", async () => {
    const { stateFolder } = await counted();
    const program = `
      import { Quota } from "./dist/client/pace/quota.js";
      import { openQuotas } from "./dist/client/store/quotas.js";
      const start = ${Date.now()};
      // Time passes 20 times as fast, the same for all processes.
      const clock = {
        now: () => start + 20 * (Date.now() - start),
        monotonic: () => 20 * performance.now(),
      };
      const store = openQuotas({
        stateFolder: ${JSON.stringify(stateFolder)}, service: ${JSON.stringify(service)},
      }, console.error);
      const rate = { count: 40, perMs: ${day} };
      const quota = new Quota(rate, store, clock);
      let spent = 0;
      for (let wait; (wait = quota.wait()) < 20_000;) {
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(wait / 20, 50)));
        else { quota.spend(); spent++; }
        if (spent % 7 === 0) await new Promise(setImmediate);
      }
      quota.giveBack();
      console.log(spent);`;
    const run = () =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        cwd: new URL("../../..", import.meta.url),
      });
    const outputs = await Promise.all(Array.from({ length: 4 }, run));
    expect(outputs.map(({ stderr }) => stderr).join("")).toBe("");
    const spent = outputs.map(({ stdout }) => Number(stdout));
    expect(spent.reduce((a, b) => a + b)).toBe(40);
  });

  test("waits for a process that holds the lock, with a warning", async () => {
    const { clock, store, path, warnings } = await counted();
    spend(store(), clock, 10, 3);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const quota = new Quota({ count: 10, perMs: day }, store(), clock);
    for (let tries = 0; tries < 2; tries++) {
      expect(quota.wait()).toBe(250);
      await clock.advance(250);
    }
    expect(warnings).toEqual([
      expect.stringContaining(`quota count ${path}: another process has locked it for too long;`),
    ]);
    other.close();
    expect(quota.wait()).toBe(0);
  });
});

test.each([
  ["cut off", (bytes: Buffer) => bytes.subarray(0, 50)],
  ["another window in it", (bytes: Buffer) => replaced(bytes, /"perMs":864/g, '"perMs":964')],
  ["a blank first page", (bytes: Buffer) => bytes.fill(0, 0, 4096)],
  ["a blank second page", (bytes: Buffer) => bytes.fill(0, 4096)],
  ["of another version", (bytes: Buffer) => bytes.fill(9, 60, 64)],
])("a damaged count (%s) is an error, and deleting it counts from 0", async (_, damage) => {
  const { clock, store, path, stateFolder } = await counted();
  const first = openQuotas({ stateFolder, service }, expect.unreachable);
  expect(spend(first, clock, 10, 3)).toBe(3);
  first.close();
  await writeFile(path, damage(await readFile(path)));
  for (let tries = 0; tries < 2; tries++) {
    expect(store).toThrow(
      expect.objectContaining({
        code: "quota_damaged",
        message: expect.stringContaining(`the quota count ${path}`),
        hint: expect.stringMatching(/^delete the file to count from 0/),
      }),
    );
  }
  await rm(path);
  expect(spend(store(), clock, 10)).toBe(10);
});

function replaced(bytes: Buffer, before: RegExp, after: string): Buffer {
  return Buffer.from(bytes.toString("latin1").replace(before, after), "latin1");
}

describe("quota counts", () => {
  test("are in the user's state folder", async () => {
    const { clock, store, stateFolder, warnings } = await counted();
    spend(store(), clock, 10, 3);
    expect(spend(store(), clock, 10)).toBe(7);
    const counts = readQuotas({ stateFolder, service });
    expect(counts.use({ perMs: day }, clock.now()).spent).toBe(10);
    expect(warnings).toEqual([]);
  });

  test("cannot be read where another process keeps them locked", async () => {
    const { clock, store, stateFolder, path } = await counted();
    spend(store(), clock, 10, 3);
    const other = new DatabaseSync(path);
    other.exec("BEGIN EXCLUSIVE");
    expect(() => readQuotas({ stateFolder, service })).toThrow("locked it for too long");
    other.close();
  });

  test("need a state folder that can be written", async () => {
    const { stateFolder, store } = await counted();
    await writeFile(join(stateFolder, "quota"), "a file");
    expect(store).toThrow(
      `cannot count quotas in ${join(stateFolder, "quota")}: it is not a folder`,
    );
  });

  test("start from 0 where their file is deleted meanwhile", async () => {
    const { clock, warnings, path, store } = await counted();
    const quotas = store();
    expect(spend(quotas, clock, 10)).toBe(10);
    await rm(path);
    expect(spend(quotas, clock, 10)).toBe(10);
    expect(spend(store(), clock, 10)).toBe(0);
    expect(warnings).toEqual([]);
  });

  test("permit nothing while they cannot be written, and go on afterwards", async () => {
    const { clock, warnings, path, store } = await counted();
    const quotas = store();
    // A folder in place of a file stops privileged users, too.
    const journal = `${path}-journal`;
    await mkdir(journal);
    expect(spend(quotas, clock, 10)).toBe(0);
    expect(warnings).toEqual([expect.stringMatching(/; sending nothing until it can be written$/)]);
    await rmdir(journal);
    await clock.advance(250);
    expect(spend(quotas, clock, 10)).toBe(10);
  });
});

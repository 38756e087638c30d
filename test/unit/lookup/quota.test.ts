import { execFile } from "node:child_process";
import { mkdir, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Quota } from "../../../src/lookup/quota.js";
import { openQuotaStore } from "../../../src/lookup/quota-folder.js";
import { MemoryQuotaStore } from "../../../src/lookup/quota-store.js";
import type { QuotaStore } from "../../../src/lookup/quota-store.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const day = 86_400_000;

function quotaOf(
  count: number,
  clock = new ManualClock(),
  store: QuotaStore = new MemoryQuotaStore(),
) {
  return {
    clock,
    store,
    quota: new Quota({ rate: { count, perMs: day }, store, name: "all", clock }),
  };
}

/** Spends until the quota is used up. */
function spendAll(quota: Quota): number {
  let spent = 0;
  for (; quota.wait() === 0; spent++) quota.spend();
  return spent;
}

test("a quota may be spent at once, and to the last request", () => {
  expect(spendAll(quotaOf(1234).quota)).toBe(1234);
});

test("in no window of its length more is spent, whenever it is asked", async () => {
  const { clock, quota } = quotaOf(50);
  const spent: number[] = [];
  for (let step = 0; step < 400; step++) {
    for (let i = 0; i < step % 7 && quota.wait() === 0; i++) {
      quota.spend();
      spent.push(clock.now());
    }
    await clock.advance(((step * 7919) % 3600) * 1000);
  }
  const within = spent.map((from) => spent.filter((at) => at >= from && at < from + day).length);
  expect(Math.max(...within)).toBeLessThanOrEqual(50);
  expect(spent.length).toBeGreaterThan(200);
});

test("a used-up quota tells how long to wait", async () => {
  const { clock, quota } = quotaOf(3);
  spendAll(quota);
  await clock.advance(quota.wait());
  expect(spendAll(quota)).toBeGreaterThan(0);
});

test("what is given back can be spent by another", () => {
  const { clock, store, quota } = quotaOf(1000);
  quota.wait();
  quota.spend();
  quota.giveBack();
  expect(spendAll(quotaOf(1000, clock, store).quota)).toBe(999);
});

test("what is reserved and never given back stays counted", () => {
  const { clock, store, quota } = quotaOf(1000);
  quota.wait();
  expect(spendAll(quotaOf(1000, clock, store).quota)).toBe(990);
});

test("the count is kept from one opening of the folder to the next", async () => {
  const folder = join(await temporaryFolder(), "quota");
  const clock = new ManualClock();
  const first = await openQuotaStore(folder);
  const { quota } = quotaOf(100, clock, first);
  for (let i = 0; i < 30; i++) {
    quota.wait();
    quota.spend();
  }
  quota.giveBack();
  await first.close();
  const second = await openQuotaStore(folder);
  onTestFinished(() => second.close());
  expect(spendAll(quotaOf(100, clock, second).quota)).toBe(70);
});

test("two processes never spend more than the quota together", async () => {
  const folder = join(await temporaryFolder(), "quota");
  const program = `
    import { Quota } from "./dist/lookup/quota.js";
    import { openQuotaStore } from "./dist/lookup/quota-folder.js";
    import { systemClock } from "./dist/core/clock.js";
    const store = await openQuotaStore(${JSON.stringify(folder)});
    const rate = { count: 3000, perMs: ${day} };
    const quota = new Quota({ rate, store, name: "all", clock: systemClock });
    let spent = 0;
    for (; quota.wait() === 0; spent++) {
      quota.spend();
      if (spent % 20 === 0) await new Promise(setImmediate);
    }
    quota.giveBack();
    await store.close();
    console.log(spent);`;
  const run = () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
      cwd: new URL("../../..", import.meta.url),
    });
  const outputs = await Promise.all([run(), run()]);
  const spent = outputs.map(({ stdout }) => Number(stdout));
  expect(spent.reduce((a, b) => a + b)).toBe(3000);
}, 30_000);

test("what a clock counted that was a year ahead is counted from now, not for a year", async () => {
  const clock = new ManualClock();
  const store = new MemoryQuotaStore();
  const rate = { count: 10, perMs: day };
  const nextYear = clock.now() + 365 * day;
  store.reserve("all", { rate, want: 10, nowMs: nextYear, untilMs: nextYear + 10_000 });
  const { quota } = quotaOf(10, clock, store);
  expect(quota.wait()).toBeGreaterThan(day - 60_000);
  expect(quota.wait()).toBeLessThanOrEqual(day + 10_000);
  await clock.advance(quota.wait());
  expect(spendAll(quota)).toBe(10);
});

test("a new folder of counts is its owner's alone", async () => {
  const folder = `${await temporaryFolder()}/quota`;
  await (await openQuotaStore(folder)).close();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test.each([
  ["cut off", (path: string) => truncate(path, 5000)],
  ["other bytes", (path: string) => writeFile(path, "no count at all\n".repeat(2000))],
])("a count that is damaged (%s) is told, and not begun anew", async (_, damage) => {
  const folder = `${await temporaryFolder()}/quota`;
  await mkdir(folder);
  const store = await openQuotaStore(folder);
  const rate = { count: 10, perMs: day };
  store.reserve("all", { rate, want: 1, nowMs: 0, untilMs: 1 });
  await store.close();
  await damage(`${folder}/data.mdb`);
  await expect(openQuotaStore(folder)).rejects.toMatchObject({
    code: "quota_damaged",
    message: expect.stringContaining(folder) as unknown,
    hint: expect.stringContaining("remove that folder") as unknown,
  });
});

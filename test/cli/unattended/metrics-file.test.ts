import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metricsFile } from "../../../src/cli/unattended/metrics-file.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const running = { command: "enrich", output: "out.csv", record: {}, ended: null };
const done = { ...running, ended: { code: 0, reason: "done" as const } };

function valueOf(text: string, name: string): number {
  return Number(new RegExp(`^repute_${name}\\{.*\\} (\\S+)$`, "m").exec(text)?.[1]);
}

test("metrics are written at the start, every 15 seconds and at the end", async () => {
  const clock = new ManualClock({ startMs: 1_000_000 });
  const path = join(await temporaryFolder(), "m.prom");
  const file = metricsFile(path, { clock, onWarning: (text) => expect.fail(text) });
  const repeated = file.repeat(() => running);
  const times: number[] = [];
  for (const ms of [0, 14_999, 1, 14_999, 1]) {
    await clock.advance(ms);
    times.push(valueOf(await readFile(path, "utf8"), "update_time_seconds"));
  }
  expect(times).toEqual([1000, 1000, 1015, 1015, 1030]);
  await clock.advance(4_000);
  file.end(done);
  await repeated;
  const text = await readFile(path, "utf8");
  const names = ["update_time_seconds", "last_success_time_seconds", "running"];
  expect(names.map((name) => valueOf(text, name))).toEqual([1034, 1034, 0]);
  expect(clock.pending).toBe(0);
  expect(existsSync(`${path}.new`)).toBe(false);
});

test("the time of the last success outlives a run that fails", async () => {
  const path = join(await temporaryFolder(), "m.prom");
  const onWarning = (text: string) => expect.fail(text);
  metricsFile(path, { clock: new ManualClock({ startMs: 5_000 }), onWarning }).end(done);
  const next = metricsFile(path, { clock: new ManualClock({ startMs: 90_000 }), onWarning });
  next.end({ ...running, ended: { code: 1, reason: "unreachable" } });
  const text = await readFile(path, "utf8");
  expect(valueOf(text, "last_success_time_seconds")).toBe(5);
  expect(valueOf(text, "exit_code")).toBe(1);
});

test("a file that cannot be written is reported, and written again once that is possible", async () => {
  const clock = new ManualClock();
  const path = join(await temporaryFolder(), "m.prom");
  await mkdir(path);
  const warnings: string[] = [];
  const file = metricsFile(path, { clock, onWarning: (text) => void warnings.push(text) });
  const repeated = file.repeat(() => running);
  await clock.advance(15_000);
  // The reporter prints each text once.
  expect(new Set(warnings).size).toBe(1);
  expect(warnings[0]).toContain(`cannot write the metrics to ${path}: `);
  await rm(path, { recursive: true });
  await clock.advance(15_000);
  expect(valueOf(await readFile(path, "utf8"), "running")).toBe(1);
  file.end(done);
  await repeated;
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { column, workspace } from "../../../helpers/workspace.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { runningService } from "../../../service/running-service.js";

const dump = (rows: number, from = 0): string =>
  column(
    "ip",
    Array.from({ length: rows }, (_, n) => `198.51.100.${from + n}`),
  );

/** A service that counts its requests, and a workspace with so many rows and its own state folder. */
async function prepared(rows: number) {
  let requests = 0;
  const service = await runningService({ onRequest: () => void requests++ });
  const home = join(await temporaryFolder(), "state");
  const place = await workspace({ "in.csv": dump(rows) }, { env: { XDG_STATE_HOME: home } });
  const address = ["--intel-url", service.intelUrl];
  const how = ["--lookups=query", "--quiet", "--rate=500/s", "-o", "out.csv", ...address];
  return {
    ...place,
    home,
    address,
    /** The arguments of a run. */
    args: ["enrich", "in.csv", ...how],
    requests: () => requests,
  };
}

test("three runs with --restart together stay within the quota", async () => {
  const { args, run, requests } = await prepared(12);
  const startOver = [...args, "--rate", "10/d", "--restart"];
  const first = await run(...startOver);
  expect([first.code, requests()]).toEqual([75, 10]);
  const second = await run(...startOver);
  expect(second.stderr).toMatch(/the quota of 10 requests in 24 h is used up until /);
  const third = await run(...startOver);
  expect([second.code, third.code, requests()]).toEqual([75, 75, 10]);
});

test("retry, query and tags share the quota of enrich", async () => {
  const { address, args, read, run, requests, write } = await prepared(3);
  const limit = ["--rate", "6/d", ...address];
  expect((await run(...args, "--rate", "6/d")).code).toBe(0);
  const asks = async (code: number, total: number, ...args: readonly string[]) => {
    const ended = await run(...args, ...limit);
    expect([ended.code, requests()]).toEqual([code, total]);
    return ended.stderr;
  };
  await asks(0, 4, "query", "192.0.2.1");
  await asks(0, 5, "tags", "list");
  expect(await asks(75, 6, "quick-check", "192.0.2.1", "192.0.2.2")).toMatch(
    /^repute: the quota of 6 requests in 24 h is used up until .*Z\n$/,
  );
  await asks(75, 6, "tags", "list");
  await write("out.csv", (await read("out.csv")).replaceAll(",complete,", ",failed,"));
  await asks(75, 6, "retry", "out.csv", "-o", "again.csv", "--quiet");
});

test("needs a state folder for a quota, which it can write", async () => {
  const { args, home, runWith, requests } = await prepared(12);
  await writeFile(home, "a file");
  for (const [XDG_STATE_HOME, fault] of [
    ["", /cannot count quotas without a state folder: neither .*\n.*XDG_STATE_HOME/s],
    [home, /cannot count quotas in .*: .* not a folder/],
  ] as const) {
    const ended = await runWith({ env: { XDG_STATE_HOME, HOME: "" } }, ...args, "--rate", "10/d");
    expect([ended.code, ended.stderr, requests()]).toEqual([2, expect.stringMatching(fault), 0]);
  }
});

test("plan counts the spent part of a quota", async () => {
  const { address, args, run } = await prepared(6);
  const plan = ["plan", "in.csv", "--lookups", "query", "--rate", "10/d", ...address];
  const nights = async () => {
    const { stdout } = await run(...plan, "--json");
    return (JSON.parse(stdout) as { chosen: { nights: number } }).chosen.nights;
  };
  expect(await nights()).toBe(1);
  await run(...args, "--rate", "10/d");
  expect(await nights()).toBe(2);
});

test("a quota smaller than the dump is worked off in the nights that plan names, with a new row each", async () => {
  const rows = 100;
  const { address, args, requests, run, runWith, write } = await prepared(rows);
  const nightly = (night: number): Clock => ({
    ...systemClock,
    now: () => systemClock.now() + night * 25 * 3_600_000,
  });
  const plan = ["plan", "in.csv", "--lookups=query", "--rate=30/d", ...address, "--json"];
  const planned = await run(...plan);
  expect(JSON.parse(planned.stdout)).toMatchObject({ chosen: { nights: 4 } });
  const ends: unknown[] = [];
  for (let night = 0; night < 4; night++) {
    // The oldest row is gone.
    await write("in.csv", dump(rows, night));
    const flags = ["--rate=30/d", "--resume", "--json"];
    const { code, stdout } = await runWith({ clock: nightly(night) }, ...args, ...flags);
    const { exit_reason, took_over = 0 } = JSON.parse(stdout) as Manifest;
    ends.push([code, exit_reason, took_over]);
  }
  expect(ends).toEqual([
    [75, "quota", 0],
    [75, "quota", 30],
    [75, "quota", 60],
    [0, "done", 90],
  ]);
  expect(requests()).toBe(rows + 3);
});

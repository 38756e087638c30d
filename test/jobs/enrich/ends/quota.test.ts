import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { startService, type ServiceOptions } from "../../../../src/service/service.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/**
 * A service that counts its requests, a working folder, and the program with its own state folder.
 */
async function prepared(options: ServiceOptions = {}) {
  let requests = 0;
  const service = await startService({
    ...options,
    onRequest: (...args) => {
      requests++;
      options.onRequest?.(...args);
    },
  });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const env = { XDG_STATE_HOME: join(cwd, "state") };
  const input = async (rows: number, name = "in.csv", network = "198.51.100"): Promise<void> => {
    const lines = Array.from({ length: rows }, (_, i) => `${network}.${i}\n`);
    await writeFile(join(cwd, name), `ip\n${lines.join("")}`);
  };
  const args = (...more: readonly string[]): readonly string[] => [
    "enrich",
    "in.csv",
    "--lookups=query",
    "--quiet",
    "--rate=500/s",
    ...more,
    ...(more.includes("-o") ? [] : ["-o", "out.csv"]),
    ...(more.includes("--intel-url") ? [] : ["--intel-url", service.intelUrl]),
  ];
  return {
    cwd,
    env,
    input,
    args,
    url: service.intelUrl,
    run: (...more: readonly string[]) => runRepute(args(...more), { cwd, env }),
    requests: () => requests,
    countFiles: async () =>
      (await readdir(join(cwd, "state", "repute", "quota"))).filter((name) => name.endsWith(".db")),
  };
}

test("three runs with --restart together stay within the quota", async () => {
  const { input, run, requests } = await prepared();
  await input(12);
  const startOver = ["--rate", "10/d", "--restart"];
  const first = await run(...startOver);
  expect([first.code, requests()]).toEqual([75, 10]);
  const second = await run(...startOver);
  expect(second.stderr).toMatch(/the quota of 10 requests in 24 h is used up until /);
  const third = await run(...startOver);
  expect([second.code, third.code, requests()]).toEqual([75, 75, 10]);
});

test("retry, query and tags share the quota of enrich", async () => {
  const { input, run, requests, url, cwd, env } = await prepared();
  await input(3);
  const limit = ["--rate", "6/d", "--intel-url", url];
  expect((await run("--rate", "6/d")).code).toBe(0);
  const query = await runRepute(["query", "192.0.2.1", ...limit], { cwd, env });
  expect([query.code, requests()]).toEqual([0, 4]);
  const tags = await runRepute(["tags", "list", ...limit], { cwd, env });
  expect([tags.code, requests()]).toEqual([0, 5]);
  const quick = await runRepute(["quick-check", "192.0.2.1", "192.0.2.2", ...limit], { cwd, env });
  expect([quick.code, requests()]).toEqual([75, 6]);
  expect(quick.stderr).toMatch(/^repute: the quota of 6 requests in 24 h is used up until .*Z\n$/);
  const more = await runRepute(["tags", "list", ...limit], { cwd, env });
  expect([more.code, requests()]).toEqual([75, 6]);
  const failed = (await readFile(join(cwd, "out.csv"), "utf8")).replaceAll(
    ",complete,",
    ",failed,",
  );
  await writeFile(join(cwd, "out.csv"), failed);
  const retry = ["retry", "out.csv", "-o", "again.csv", "--quiet", ...limit];
  expect([(await runRepute(retry, { cwd, env })).code, requests()]).toEqual([75, 6]);
});

test("needs a state folder for a quota", async () => {
  const { cwd, input, args, requests } = await prepared();
  await input(12);
  const homeless = { cwd, env: { XDG_STATE_HOME: "", HOME: "" } };
  const { code, stderr } = await runRepute(args("--rate", "10/d"), homeless);
  expect([code, requests()]).toEqual([2, 0]);
  expect(stderr).toMatch(
    /cannot count quotas without a state folder: neither .*\n.*XDG_STATE_HOME/s,
  );
});

test.skipIf(process.getuid?.() === 0)("needs a state folder that it can write", async () => {
  const { env, input, run, requests } = await prepared();
  await input(12);
  await mkdir(env.XDG_STATE_HOME);
  await chmod(env.XDG_STATE_HOME, 0o500);
  const { code, stderr } = await run("--rate", "10/d");
  expect([code, requests()]).toEqual([2, 0]);
  expect(stderr).toMatch(/cannot count quotas in .*: permission denied/);
});

test("plan counts the spent part of a quota", async () => {
  const { cwd, env, input, run, url } = await prepared();
  await input(6);
  const plan = ["plan", "in.csv", "--lookups", "query", "--rate", "10/d", "--intel-url", url];
  const nights = async () => {
    const { stdout } = await runRepute([...plan, "--json"], { cwd, env });
    return (JSON.parse(stdout) as { chosen: { nights: number } }).chosen.nights;
  };
  expect(await nights()).toBe(1);
  await run("--rate", "10/d");
  expect(await nights()).toBe(2);
});

test("a quota smaller than the dump is worked off in the nights that plan names, with a new row each", async () => {
  const { cwd, env, input, args, requests, url } = await prepared();
  const nightly = (night: number): Clock => ({
    ...systemClock,
    now: () => systemClock.now() + night * 25 * 3_600_000,
  });
  const rows = 100;
  await input(rows);
  const plan = ["plan", "in.csv", "--lookups=query", "--rate=30/d", "--intel-url", url, "--json"];
  const planned = await runRepute(plan, { cwd, env });
  expect(JSON.parse(planned.stdout)).toMatchObject({ chosen: { nights: 4 } });
  const ends: unknown[] = [];
  for (let night = 0; night < 4; night++) {
    // The oldest row is gone.
    const lines = Array.from({ length: rows }, (_, i) => `198.51.100.${i + night}\n`);
    await writeFile(join(cwd, "in.csv"), `ip\n${lines.join("")}`);
    const flags = ["--rate=30/d", "--resume", "--json"];
    const { code, stdout } = await runRepute(args(...flags), { cwd, env, clock: nightly(night) });
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

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { space, time } from "../../../../src/cli/commands/doctor.js";
import { runToEnd } from "../../../../src/cli/command-line/command-line.js";
import { InterruptedError } from "../../../../src/core/errors.js";
import { describe, expect, test } from "vitest";
import {
  reply,
  silence,
  startScriptedServer,
  type Step,
} from "../../../helpers/scripted-server.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { quickCheckResult, success } from "../../../client/api/answers.js";
import { fakeContext } from "../../fake-context.js";
import { runInProcess } from "../../run-in-process.js";

type Check = Readonly<Record<"check" | "status" | "finding" | "remedy", string>>;

const good = reply(200, success({ ...quickCheckResult(), item: "192.0.2.1" }));

/** A service that gives these answers, and what it is asked. */
async function serving(...script: readonly Step[]) {
  const server = await startScriptedServer(script);
  return { ...server, url: `${server.url}/beta` };
}

/** Runs doctor and returns its checks by name. */
async function doctor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const home = { HOME: await temporaryFolder() };
  const all = ["doctor", "--json", ...args];
  const { code, stdout } = await runInProcess(all, { env: { ...home, ...env } });
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Check[] };
  expect([ok, code]).toEqual(code === 0 ? [true, 0] : [false, 1]);
  return { code, stdout, of: (name: string) => checks.find(({ check }) => check === name) };
}

test("prints a line for each check and for each setting", async () => {
  const env = { HOME: await temporaryFolder() };
  const { stdout } = await runInProcess(["doctor", "--local"], { env });
  expect(stdout).toMatch(/^(?:ok {2}|warn) {2}state folder {2}\S.* free/);
  expect(stdout).toMatch(/^ok {4}cache {9}none in use$/m);
  expect(stdout).toMatch(/^ok {4}service {7}answered in \d+ ms$/m);
  const [checks = "", settings = ""] = stdout.split("\n\n");
  for (const line of checks.split("\n")) expect(line).toMatch(/^(?:ok {2}|warn|fail) {2}\S/);
  for (const line of settings.trimEnd().split("\n").slice(0, -1))
    expect(line).toMatch(/^[^\t]+\t[^\t]+\t|^(?:access token|case API key|API key)\tnot set\t$/);
});

describe("the service", () => {
  test("gets one request with the key, which is never printed", async () => {
    const { url, requests } = await serving(good);
    const { code, of, stdout } = await doctor(["--intel-url", url], { REPUTE_API_KEY: "s3cret" });
    expect(code).toBe(0);
    const headers = { "x-api-key": "s3cret" };
    expect(requests).toMatchObject([{ path: "/beta/quick-check/192.0.2.1", headers }]);
    expect(of("key")).toMatchObject({ status: "ok", finding: "accepted (from REPUTE_API_KEY)" });
    expect(stdout).not.toContain("s3cret");
  });

  test.each([401, 403])("that refuses the key with %d fails the key check", async (status) => {
    const { url, requests } = await serving(reply(status));
    const { code, of, stdout } = await doctor(["--intel-url", url], { REPUTE_API_KEY: "s3cret" });
    expect([code, of("service")?.status, of("key")?.status]).toEqual([1, "ok", "fail"]);
    expect(requests).toHaveLength(1);
    expect(stdout).not.toContain("s3cret");
  });

  test("that does not end in /beta has that address suggested", async () => {
    const url = (await serving(reply(404))).url.replace(/\/beta$/, "");
    const { of } = await doctor(["--intel-url", url]);
    expect(of("address")).toMatchObject({ status: "warn", remedy: `try ${url}/beta` });
  });

  test.each([
    [404, "", "fail", "check the address"],
    [429, "", "warn", "lower --rate"],
    [503, "", "warn", "lower --rate"],
    [500, "", "fail", "run again later"],
    [200, "<html>", "fail", "proxies"],
  ])("that answers %d %s is asked once", async (status, body, wanted, remedy) => {
    const { url, requests } = await serving(reply(status, body));
    const { of } = await doctor(["--intel-url", url]);
    expect(of("service")?.status).toBe(wanted);
    expect(of("service")?.remedy).toContain(remedy);
    expect(requests).toHaveLength(1);
  });

  test("that does not answer fails after --timeout", async () => {
    const { url } = await serving(silence());
    const { code, of } = await doctor(["--intel-url", url, "--timeout", "50ms"]);
    expect([code, of("connection")?.status]).toEqual([1, "fail"]);
    expect(of("connection")?.remedy).toContain("--timeout");
  });

  test("without a listener fails the connection check and gets no request", async () => {
    const service = await serving(good);
    await service.close();
    const { code, of } = await doctor(["--intel-url", service.url]);
    expect([code, of("service")]).toEqual([1, undefined]);
    expect(of("connection")?.status).toBe("fail");
    expect(of("connection")?.finding).toContain("ECONNREFUSED");
  });
});

test("counts its request against a quota, and sends none once that is used up", async () => {
  const { url, requests } = await serving(good);
  const env = { XDG_STATE_HOME: await temporaryFolder() };
  const args = ["--intel-url", url, "--rate", "1/d"];
  await doctor(args, env);
  const second = await doctor(args, env);
  expect(second.of("service")?.finding).toContain("the quota of 1 request in 24 h is used up");
  expect([second.code, requests.length]).toEqual([0, 1]);
});

test("a cache that is damaged fails with the folder to delete", async () => {
  const cache = await temporaryFolder();
  await mkdir(join(cache, "answers"));
  await writeFile(join(cache, "answers", "answers.db"), "no database ".repeat(1000));
  const { code, of } = await doctor(["--local", "--cache", cache]);
  expect([code, of("cache")?.status]).toEqual([1, "fail"]);
  expect(of("cache")?.remedy).toContain(`delete the folder ${join(cache, "answers")}`);
});

test("is interrupted by a signal", async () => {
  const { url, requests } = await serving(silence());
  const context = fakeContext({ env: { HOME: await temporaryFolder() } });
  const running = runToEnd(["doctor", "--intel-url", url], context);
  await expect.poll(() => requests.length).toBe(1);
  context.controller.abort(new InterruptedError("SIGTERM"));
  expect(await running).toBe(143);
});

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [2e9, "ok"],
  [999e6, "warn"],
  [49e6, "fail"],
])("%d bytes of free space are %s", (free, status) => {
  expect(space("/cache", free)[0]).toBe(status);
});

test.each([
  [now + 30_000, "ok", "agrees with the service"],
  [now + 300_000, "warn", "5 min behind the service"],
  [now - 600_000, "warn", "10 min ahead of the service"],
])("a clock, with the service at %d, is %s", (servedMs, status, finding) => {
  expect(time(servedMs, now).slice(0, 2)).toEqual([status, finding]);
});

test.each([
  ["-o", "out.xlsx", "output", "fail", ""],
  ["-o", "sqlite:out.db", "output", "fail", ""],
  ["-o", "duckdb:none/out.db?table=t", "output", "fail", ""],
  ["-o", "FOLDER/none/out.csv", "output", "fail", "does not exist"],
  ["-o", "FOLDER/dt={date}/out.csv", "output", "ok", ""],
  ["--state-dir", "/dev/null/state", "state folder", "fail", "cannot write"],
])("%s %s: the %s is %s, and nothing is made", async (flag, path, name, status, finding) => {
  const folder = await temporaryFolder();
  const { code, of } = await doctor(["--local", flag, path.replace("FOLDER", folder)]);
  expect([code, of(name)?.status]).toEqual([status === "ok" ? 0 : 1, status]);
  expect(of(name)?.finding).toContain(finding);
  expect(await readdir(folder)).toEqual([]);
});

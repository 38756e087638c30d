import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { serveHere } from "../../../helpers/serve-here.js";
import { shellWords } from "../../../docs/shell-session.js";
import { runInProcess } from "../run-in-process.js";

const url = "https://intel.example/beta";

async function home() {
  const HOME = await temporaryFolder();
  return { env: { HOME }, HOME, path: join(HOME, ".config", "repute", "config.yaml") };
}

/** The settings that a config file yields, as `repute config` shows them. */
async function settingsOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout } = await runInProcess(["config", "--json", "--config", path]);
  expect(code).toBe(0);
  const { settings } = JSON.parse(stdout) as {
    settings: readonly { setting: string; value: unknown; origin: string }[];
  };
  return Object.fromEntries(
    settings.filter(({ origin }) => origin === "file").map((each) => [each.setting, each.value]),
  );
}

test("asks and writes the answers", async () => {
  const { env, HOME, path } = await home();
  const key = join(HOME, "key");
  await writeFile(key, "k-1", { mode: 0o600 });
  const typed = [url, key, "50/s", "8", "/var/cache/repute"];
  const { code, stderr } = await runInProcess(["init"], { env, typed });
  expect(code).toBe(0);
  expect(stderr).toContain(`repute: wrote ${path}\n`);
  expect(await settingsOf(path)).toEqual({
    "intel-url": url,
    "api-key-file": key,
    rate: "50/s",
    concurrency: "8",
    cache: "/var/cache/repute",
  });
});

test("writes a crontab line, whose command runs", async () => {
  const { env, HOME, path } = await home();
  await runInProcess(["init", "--yes", "--intel-url", url], { env });
  const line = (await readFile(path, "utf8")).trimEnd().split("\n").at(-1)!;
  const command = line.replace(/^# 0 2 \* \* \* cd FOLDER && repute /, "").replaceAll("'", "");
  await mkdir(join(HOME, "nights"));
  await writeFile(join(HOME, "dump.csv"), "ip\n198.51.100.1\n");
  const { code, stderr } = await runRepute([...command.split(" "), "--local"], { cwd: HOME });
  expect([code, stderr]).toEqual([0, ""]);
  const names = (await readdir(join(HOME, "nights"))).map((name) =>
    name.slice("2026-01-31".length),
  );
  expect(names.toSorted()).toEqual([".csv", ".csv.manifest.json", ".html"]);
});

test.each([[[]], [["a folder/my config.yaml"]]])(
  "ends with a command to run next, which runs as printed after init %j",
  async (operands) => {
    const { HOME } = await home();
    const env = { XDG_CONFIG_HOME: join(HOME, ".config") };
    const { origin, stop } = await serveHere();
    const args = ["init", ...operands, "--yes", "--intel-url", `${origin}/beta`];
    const { stderr } = await runRepute(args, { cwd: HOME, env });
    const [program, ...next] = shellWords(stderr.trimEnd().split("\n").at(-1)!.trim());
    expect(program).toBe("repute");
    const { code, stdout } = await runRepute([...next, "--json"], { cwd: HOME, env });
    await stop();
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(origin);
  },
);

test("takes the default for an empty answer", async () => {
  const { env, HOME, path } = await home();
  const { code, stderr } = await runInProcess(["init"], { env, typed: [url, "", "", "", ""] });
  expect(code).toBe(0);
  expect(stderr).toContain("REPUTE_API_KEY");
  expect(await settingsOf(path)).toEqual({
    "intel-url": url,
    rate: "100/s",
    concurrency: "32",
    cache: join(HOME, ".cache", "repute"),
  });
});

test("asks again after a wrong answer and says what is wrong", async () => {
  const { env, path } = await home();
  const typed = ["intel.example", "", url, "k-s3cret", "", "fast", "9/s", "0", "1", "none"];
  const { code, stderr } = await runInProcess(["init"], { env, typed });
  expect(code).toBe(0);
  expect(stderr).toContain("it must be an http:// or https:// address");
  expect(stderr).toContain("it must be a count and a window");
  expect(stderr).toContain("it must be at least 1");
  expect(stderr).toContain("never the key itself");
  expect(stderr + (await readFile(path, "utf8"))).not.toContain("s3cret");
  expect(await settingsOf(path)).toEqual({ "intel-url": url, rate: "9/s", concurrency: "1" });
});

test("does not ask what a flag answers", async () => {
  const { env, path } = await home();
  const args = ["init", "--intel-url", url, "--rate", "7/s", "--concurrency", "2"];
  const { code, stderr } = await runInProcess(args, { env, typed: ["", "none"] });
  expect(code).toBe(0);
  expect(stderr).not.toContain("Address");
  expect(await settingsOf(path)).toEqual({ "intel-url": url, rate: "7/s", concurrency: "2" });
});

test("writes nothing when the input ends early", async () => {
  const { env, path } = await home();
  const { code, stderr } = await runInProcess(["init"], { env, typed: [url] });
  expect([code, existsSync(path)]).toEqual([2, false]);
  expect(stderr).toContain("the input ended before the last answer");
});

describe("without questions", () => {
  test.each([
    ["--yes", ["--yes"], { typed: [] }],
    ["stdin that is no terminal", [], { stdin: "" }],
  ])("uses flags and defaults because of %s", async (_, args, options) => {
    const { env, path } = await home();
    const all = ["init", ...args, "--intel-url", url];
    const { code, stderr } = await runInProcess(all, { env, ...options });
    expect([code, stderr.includes("Address")]).toEqual([0, false]);
    expect(await settingsOf(path)).toMatchObject({ "intel-url": url, rate: "100/s" });
  });

  test("needs the address", async () => {
    const { env, path } = await home();
    const { code, stderr } = await runInProcess(["init"], { env, stdin: "" });
    expect([code, existsSync(path)]).toEqual([2, false]);
    expect(stderr).toContain("init needs --intel-url");
  });
});

test.skipIf(process.platform === "win32")("writes a file for its owner alone", async () => {
  const { env, path } = await home();
  await runInProcess(["init", "--yes", "--intel-url", url], { env, stdin: "" });
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
});

describe("an existing config file", () => {
  const again = ["init", "--yes", "--intel-url", "https://other.example/beta"];

  test("is kept", async () => {
    const { env, path } = await home();
    await runInProcess(["init", "--yes", "--intel-url", url], { env, stdin: "" });
    const { code, stderr } = await runInProcess(again, { env, stdin: "" });
    expect(code).toBe(2);
    expect(stderr).toContain(`${path} exists`);
    expect(await settingsOf(path)).toMatchObject({ "intel-url": url });
  });

  test("is replaced with --force, and keeps its name", async () => {
    const { env, HOME, path } = await home();
    const yml = join(HOME, ".config", "repute", "config.yml");
    await mkdir(join(HOME, ".config", "repute"), { recursive: true });
    await writeFile(yml, "{ broken");
    const { code } = await runInProcess([...again, "--force"], { env, stdin: "" });
    expect([code, existsSync(path)]).toEqual([0, false]);
    expect(await settingsOf(yml)).toMatchObject({ "intel-url": "https://other.example/beta" });
  });
});

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { runInProcess } from "../../run-in-process.js";

interface Shown {
  readonly config_file: string | null;
  readonly profile: string | null;
  readonly settings: readonly Readonly<Record<string, unknown>>[];
  readonly secrets: readonly Readonly<Record<string, unknown>>[];
}

async function shown(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await runInProcess(["doctor", "--json", ...args], { env });
  return { all: JSON.parse(stdout) as Shown, stdout };
}

test("shows the origin of each setting", async () => {
  const path = join(await temporaryFolder(), "config.yaml");
  await writeFile(
    path,
    "retries: 1\nprofiles:\n  nightly:\n    concurrency: 7\n    lookups: [query]\n",
  );
  const args = ["--config", path, "--profile", "nightly", "--rate", "5/s"];
  const { all } = await shown(args, { REPUTE_TIMEOUT: "9s" });
  expect([all.config_file, all.profile]).toEqual([path, "nightly"]);
  const nightly = "(profile nightly)";
  expect(all.settings).toEqual(
    expect.arrayContaining([
      { setting: "rate", value: "5/s", origin: "flag", from: "--rate" },
      { setting: "timeout", value: "9s", origin: "variable", from: "REPUTE_TIMEOUT" },
      { setting: "retries", value: "1", origin: "file", from: `${path}:1:1` },
      { setting: "concurrency", value: "7", origin: "profile", from: `${path}:4:5 ${nightly}` },
      { setting: "lookups", value: "query", origin: "profile", from: `${path}:5:5 ${nightly}` },
      { setting: "partial-retries", value: "2", origin: "default", from: "default" },
      { setting: "ops-url", value: null, origin: "default", from: "default" },
    ]),
  );
});

test("shows the default rate beside a quota, and not beside another rate", async () => {
  const rates = async (...args: string[]) =>
    (await shown(args)).all.settings
      .filter(({ setting }) => setting === "rate")
      .map(({ value, from }) => [value, from]);
  expect(await rates("--rate", "10000/d")).toEqual([
    ["10000/d", "--rate"],
    ["100/s", "default"],
  ]);
  expect(await rates("--rate", "10000/d", "--local")).toEqual([["10000/d", "--rate"]]);
  expect(await rates("--rate", "600/m")).toEqual([["600/m", "--rate"]]);
});

test("shows the path of the config file that it finds", async () => {
  const home = await temporaryFolder();
  await mkdir(join(home, ".config", "repute"), { recursive: true });
  await writeFile(join(home, ".config", "repute", "config.yaml"), "retries: 1\n");
  const { all } = await shown([], { HOME: home });
  const path = join(home, ".config", "repute", "config.yaml");
  expect(all.config_file).toBe(path);
  const config = { setting: "config", value: path, origin: "default" };
  expect(all.settings).toContainEqual(expect.objectContaining(config));
});

test("shows that a secret is set, and never the secret", async () => {
  const keyFile = join(await temporaryFolder(), "key");
  await writeFile(keyFile, "case-s3cret", { mode: 0o600 });
  const env = { REPUTE_API_KEY: "intel-s3cret" };
  const { all, stdout } = await shown(["--case-api-key-file", keyFile], env);
  expect(all.secrets).toMatchObject([
    { secret: "API key", state: "set", from: "REPUTE_API_KEY" },
    { secret: "access token", state: "not set", from: null },
    { secret: "case API key", state: "set", from: `${keyFile} (--case-api-key-file)` },
  ]);
  expect(stdout).not.toContain("s3cret");
});

test("warns about a key file that cannot be used", async () => {
  const keyFile = join(await temporaryFolder(), "key");
  await writeFile(keyFile, "two words");
  await chmod(keyFile, 0o600);
  const env = { REPUTE_API_KEY_FILE: keyFile };
  const { stdout, stderr } = await runInProcess(["doctor"], { env });
  expect(stdout).toContain(`API key\tnot usable\t${keyFile} (REPUTE_API_KEY_FILE)\n`);
  expect(stderr).toContain("it contains a space,");
  expect(stdout + stderr).not.toContain("two words");
});

test("prints a line for each set setting when piped", async () => {
  const { stdout } = await runInProcess(["doctor", "--rate", "5/s"]);
  expect(stdout).toContain("rate\t5/s\t--rate\n");
  expect(stdout).toContain("retries\t5\tdefault\n");
  expect(stdout).not.toContain("ops-url");
});

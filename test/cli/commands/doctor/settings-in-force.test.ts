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

async function configFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "config.yaml");
  await writeFile(path, text);
  return path;
}

async function shown(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await runInProcess(["doctor", "--json", ...args], { env });
  const all = JSON.parse(stdout) as Shown;
  const setting = (name: string) => all.settings.find((each) => each["setting"] === name);
  const secret = (name: string) => all.secrets.find((each) => each["secret"] === name);
  return { all, setting, secret, stdout };
}

test("shows the origin of each setting", async () => {
  const path = await configFile(
    "retries: 1\nprofiles:\n  nightly:\n    concurrency: 7\n    lookups: [query]\n",
  );
  const args = ["--config", path, "--profile", "nightly", "--rate", "5/s"];
  const { all, setting } = await shown(args, { REPUTE_TIMEOUT: "9s" });
  expect([all.config_file, all.profile]).toEqual([path, "nightly"]);
  expect(setting("rate")).toEqual({
    setting: "rate",
    value: "5/s",
    origin: "flag",
    from: "--rate",
  });
  expect(setting("timeout")).toMatchObject({ value: "9s", from: "REPUTE_TIMEOUT" });
  expect(setting("retries")).toEqual({
    setting: "retries",
    value: "1",
    origin: "file",
    from: `${path}:1:1`,
  });
  expect(setting("concurrency")).toMatchObject({
    value: "7",
    origin: "profile",
    from: `${path}:4:5 (profile nightly)`,
  });
  expect(setting("lookups")).toMatchObject({ value: "query" });
  expect(setting("partial-retries")).toMatchObject({ value: "2", origin: "default" });
  expect(setting("ops-url")).toMatchObject({ value: null, origin: "default" });
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
  const { all, setting } = await shown([], { HOME: home });
  const path = join(home, ".config", "repute", "config.yaml");
  expect(all.config_file).toBe(path);
  expect(setting("config")).toMatchObject({ value: path, origin: "default" });
});

test("shows that a secret is set, and never the secret", async () => {
  const keyFile = join(await temporaryFolder(), "key");
  await writeFile(keyFile, "case-s3cret", { mode: 0o600 });
  const { secret, stdout } = await shown(["--case-api-key-file", keyFile], {
    REPUTE_API_KEY: "intel-s3cret",
  });
  expect(secret("API key")).toMatchObject({ state: "set", from: "REPUTE_API_KEY" });
  expect(secret("access token")).toMatchObject({ state: "not set", from: null });
  expect(secret("case API key")).toMatchObject({
    state: "set",
    from: `${keyFile} (--case-api-key-file)`,
  });
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

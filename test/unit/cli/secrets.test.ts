import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSecret, secretNamed, secrets } from "../../../src/cli/secrets.js";
import type { GivenSettings, SettingLevel } from "../../../src/cli/settings.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

function fileGiven(path: string, level: SettingLevel): GivenSettings {
  return new Map([["apiKeyFile", { value: path, level, name: "--api-key-file" }]]);
}

async function keyFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "key");
  await writeFile(path, text);
  return path;
}

const none: GivenSettings = new Map();

test("there is no key unless one is configured", async () => {
  expect(await readSecret(secrets.intel, none, {})).toBeNull();
});

test("reads the key from its variable", async () => {
  expect(await readSecret(secrets.intel, none, { REPUTE_API_KEY: " k-1 " })).toBe("k-1");
});

test("reads the key from a file, without its line end", async () => {
  const given = fileGiven(await keyFile("k-2\r\n"), "flag");
  expect(await readSecret(secrets.intel, given, {})).toBe("k-2");
});

test("a file named by a flag beats the variable", async () => {
  const given = fileGiven(await keyFile("k-2"), "flag");
  expect(await readSecret(secrets.intel, given, { REPUTE_API_KEY: "k-1" })).toBe("k-2");
});

test("the variable beats a file that the configuration names", async () => {
  const given = fileGiven(await keyFile("k-2"), "file");
  expect(await readSecret(secrets.intel, given, { REPUTE_API_KEY: "k-1" })).toBe("k-1");
});

test("a missing file is named, and where it was named", async () => {
  await expect(readSecret(secrets.intel, fileGiven("no-such-key", "flag"), {})).rejects.toThrow(
    "cannot read no-such-key, the file of the API key (--api-key-file): there is no such file",
  );
});

test("an empty file is refused", async () => {
  const given = fileGiven(await keyFile("\n"), "flag");
  await expect(readSecret(secrets.intel, given, {})).rejects.toThrow(
    /holds no API key: it is empty$/,
  );
});

test("what can be no key is refused and not shown", async () => {
  const given = fileGiven(await keyFile("first-line\nsecond-line"), "flag");
  const error: unknown = await readSecret(secrets.intel, given, {}).catch(
    (error: unknown) => error,
  );
  expect(error).toMatchObject({ code: "secret_malformed" });
  expect(String(error)).not.toContain("first-line");
});

test.each([
  ["api-key", "REPUTE_API_KEY"],
  ["apiKey", "REPUTE_API_KEY"],
  ["x-api-key", "REPUTE_API_KEY"],
  ["token", "REPUTE_ACCESS_TOKEN"],
  ["access_token", "REPUTE_ACCESS_TOKEN"],
  ["case-api-key", "REPUTE_CASE_API_KEY"],
])("%s is the name of a secret", (name, variable) => {
  expect(secretNamed(name)?.variable).toBe(variable);
});

test("a file's flag is no secret", () => {
  expect(secretNamed("api-key-file")).toBeNull();
});

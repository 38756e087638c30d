import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSecret, secrets } from "../../../src/cli/options/secrets.js";
import type { GivenSetting, GivenSettings } from "../../../src/cli/options/settings.js";
import { InterruptedError } from "../../../src/core/errors.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { fakeContext } from "../fake-context.js";

function fileGiven(path: string, level: GivenSetting["level"]): GivenSettings {
  return new Map([["apiKeyFile", { value: path, level, name: "--api-key-file" }]]);
}

async function keyFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "key");
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

/** Reads the key sent as x-api-key. */
function readKey(given: GivenSettings, env: Readonly<Record<string, string>> = {}) {
  return readSecret(secrets.intel, given, fakeContext({ env }));
}

const none: GivenSettings = new Map();

test.each<[string, string | null, GivenSetting["level"], string, string | null]>([
  ["has no key unless one is configured", null, "flag", "", null],
  ["reads the key from its variable", null, "flag", " k-1 ", "k-1"],
  ["reads the key from a file, without its line end", "k-2\r\n", "flag", "", "k-2"],
  ["a file named by a flag beats the variable", "k-2", "flag", "k-1", "k-2"],
  ["the variable beats a file that the configuration names", "k-2", "file", "k-1", "k-1"],
  ["reads a key of 16 KiB", `${"k".repeat(16_384)}\n`, "flag", "", "k".repeat(16_384)],
])("%s", async (_, text, level, variable, key) => {
  const given = text === null ? none : fileGiven(await keyFile(text), level);
  expect(await readKey(given, { REPUTE_API_KEY: variable })).toBe(key);
});

test("names a missing file and its source", async () => {
  await expect(readKey(fileGiven("no-such-key", "flag"))).rejects.toThrow(
    "cannot read no-such-key, the API key file (--api-key-file): no such file",
  );
});

const character = "it contains a space, a line break or another character that is not allowed";
const long = "it is longer than 16384 characters";

test.each([
  ["an empty file", "\n", "it is empty"],
  ["a line break inside", "first-line\nsecond-line", character],
  ["a letter beyond ASCII", "secrét", character],
  ["16 KiB and one character", "k".repeat(16_385), long],
])("refuses %s, says why and does not show it", async (_, text, reason) => {
  const path = await keyFile(text);
  const error: unknown = await readKey(fileGiven(path, "flag")).catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: "secret_malformed",
    message: expect.stringContaining(`${path} contains no API key: ${reason}`) as unknown,
  });
  expect(String(error)).not.toMatch(/first-line|secr|kkk/);
});

test("checks a variable like a file", async () => {
  const key = readKey(none, { REPUTE_API_KEY: "a\nb" });
  await expect(key).rejects.toThrow(`REPUTE_API_KEY contains no API key: ${character}`);
});

test.skipIf(process.platform === "win32")("refuses an endless device", async () => {
  const key = readKey(fileGiven("/dev/zero", "flag"));
  await expect(key).rejects.toThrow(`/dev/zero contains no API key: ${long}`);
});

describe.skipIf(process.platform === "win32")("a named pipe", () => {
  async function namedPipe(): Promise<string> {
    const path = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", [path]);
    return path;
  }

  test("is read once it has a writer", async () => {
    const path = await namedPipe();
    const key = readKey(fileGiven(path, "flag"));
    await writeFile(path, "k-3\n");
    expect(await key).toBe("k-3");
  });

  test("that nobody writes to does not keep a signal waiting", async () => {
    const stop = new AbortController();
    const context = { ...fakeContext(), signal: stop.signal };
    const key = readSecret(secrets.intel, fileGiven(await namedPipe(), "flag"), context);
    setTimeout(() => stop.abort(new InterruptedError("SIGINT")), 50);
    await expect(key).rejects.toThrow(InterruptedError);
  });
});

test.skipIf(process.platform === "win32").each([
  [0o644, true],
  [0o602, true],
  [0o640, false],
  [0o600, false],
])("a file of mode %o is read, and a warning if everybody has access", async (mode, isWarned) => {
  const path = await keyFile("k-5");
  await chmod(path, mode);
  const context = fakeContext();
  expect(await readSecret(secrets.intel, fileGiven(path, "flag"), context)).toBe("k-5");
  expect(context.stderr.text).toBe(
    isWarned
      ? `repute: warning: every user of this machine can read or change the secret in ${path}: run chmod 600 ${path}\n`
      : "",
  );
});

import { execFileSync } from "node:child_process";
import { appendFile, chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readSecret, secretNamed, secrets } from "../../../../src/cli/options/secrets.js";
import type { GivenSettings, SettingLevel } from "../../../../src/cli/options/settings.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { fakeContext } from "../fake-context.js";

function fileGiven(path: string, level: SettingLevel): GivenSettings {
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

test("has no key unless one is configured", async () => {
  expect(await readKey(none)).toBeNull();
});

test("reads the key from its variable", async () => {
  expect(await readKey(none, { REPUTE_API_KEY: " k-1 " })).toBe("k-1");
});

test("reads the key from a file, without its line end", async () => {
  const given = fileGiven(await keyFile("k-2\r\n"), "flag");
  expect(await readKey(given)).toBe("k-2");
});

test("a file named by a flag beats the variable", async () => {
  const given = fileGiven(await keyFile("k-2"), "flag");
  expect(await readKey(given, { REPUTE_API_KEY: "k-1" })).toBe("k-2");
});

test("the variable beats a file that the configuration names", async () => {
  const given = fileGiven(await keyFile("k-2"), "file");
  expect(await readKey(given, { REPUTE_API_KEY: "k-1" })).toBe("k-1");
});

test("names a missing file and its source", async () => {
  await expect(readKey(fileGiven("no-such-key", "flag"))).rejects.toThrow(
    "cannot read no-such-key, the API key file (--api-key-file): no such file",
  );
});

test("refuses an empty file", async () => {
  const given = fileGiven(await keyFile("\n"), "flag");
  await expect(readKey(given)).rejects.toThrow(/contains no API key: it is empty$/);
});

test("refuses an invalid key and does not show it", async () => {
  const given = fileGiven(await keyFile("first-line\nsecond-line"), "flag");
  const error: unknown = await readKey(given).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "secret_malformed" });
  expect(String(error)).not.toContain("first-line");
});

test.each([
  ["a line break inside", "first-line\nsecond-line", "it contains a line break"],
  ["a space inside", "Bearer secret", "it contains a space"],
  [
    "a letter beyond ASCII",
    "secrét",
    "it contains characters that are not allowed in an HTTP header",
  ],
  [
    "a control character",
    "sec\u0000ret",
    "it contains characters that are not allowed in an HTTP header",
  ],
  ["16 KiB and one character", "k".repeat(16_385), "it is longer than 16384 characters"],
  ["two megabytes", "k".repeat(2_000_000), "it is longer than 17408 bytes"],
])("refuses a key with %s and says why", async (_, text, reason) => {
  const path = await keyFile(text);
  await expect(readKey(fileGiven(path, "flag"))).rejects.toThrow(
    `${path} contains no API key: ${reason}`,
  );
});

test("reads a key of 16 KiB", async () => {
  const key = "k".repeat(16_384);
  expect(await readKey(fileGiven(await keyFile(`${key}\n`), "flag"))).toBe(key);
});

test("checks a variable like a file", async () => {
  await expect(readKey(none, { REPUTE_API_KEY: "a\nb" })).rejects.toThrow(
    "REPUTE_API_KEY contains no API key: it contains a line break",
  );
});

describe.skipIf(process.platform === "win32")("special files", () => {
  test("refuses an endless device", async () => {
    await expect(readKey(fileGiven("/dev/zero", "flag"))).rejects.toThrow(
      "/dev/zero contains no API key: it is longer than",
    );
  });

  async function namedPipe(): Promise<string> {
    const path = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", ["-m", "644", path]);
    return path;
  }

  test("reads a named pipe to its end, without a warning", async () => {
    const path = await namedPipe();
    const context = fakeContext();
    const reading = readSecret(secrets.intel, fileGiven(path, "flag"), context);
    await appendFile(path, "k-4\n");
    expect([await reading, context.stderr.text]).toEqual(["k-4", ""]);
  });

  test("stops waiting for a named pipe without a writer when the run is stopped", async () => {
    const context = fakeContext();
    const reading = readSecret(secrets.intel, fileGiven(await namedPipe(), "flag"), context);
    context.controller.abort(new Error("stopped"));
    await expect(reading).rejects.toThrow("stopped");
  });
});

describe.skipIf(process.platform === "win32")("a file that others can read", () => {
  test.each([
    [0o666, "666"],
    [0o644, "644"],
    [0o640, "640"],
    [0o602, "602"],
  ])("of mode %o is read with a warning", async (mode, shown) => {
    const path = await keyFile("k-5");
    await chmod(path, mode);
    const context = fakeContext();
    expect(await readSecret(secrets.intel, fileGiven(path, "flag"), context)).toBe("k-5");
    expect(context.stderr.text).toBe(
      `repute: warning: other users can read or change the secret in ${path} (mode ${shown}): run chmod 600 ${path}\n`,
    );
  });

  test.each([0o600, 0o400, 0o700])("of mode %o is read without a warning", async (mode) => {
    const path = await keyFile("k-6");
    await chmod(path, mode);
    const context = fakeContext();
    await readSecret(secrets.intel, fileGiven(path, "flag"), context);
    expect(context.stderr.text).toBe("");
  });

  test.each([
    [0o440, false],
    [0o640, false],
    [0o444, true],
    [0o460, true],
  ])("of mode %o that another user owns is warned about: %s", async (mode, warned) => {
    const path = await keyFile("k-8");
    await chmod(path, mode);
    const { uid } = await stat(path);
    vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
    onTestFinished(() => void vi.restoreAllMocks());
    const context = fakeContext();
    await readSecret(secrets.intel, fileGiven(path, "flag"), context);
    expect(context.stderr.text.includes("other users can read")).toBe(warned);
  });

  test("quotes the command in the warning for a shell", async () => {
    const path = join(await temporaryFolder(), "my key");
    await writeFile(path, "k-7", { mode: 0o644 });
    const context = fakeContext();
    await readSecret(secrets.intel, fileGiven(path, "flag"), context);
    expect(context.stderr.text).toContain(`: run chmod 600 '${path}'\n`);
  });
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

test("the flag of a secret file is not a secret", () => {
  expect(secretNamed("api-key-file")).toBeNull();
});

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../../src/cli/command-line/config-file.js";
import { readLine } from "../../../src/cli/command-line/parse-arguments.js";
import { UsageError } from "../../../src/core/errors.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { fakeContext } from "../fake-context.js";

/** Reads the settings of a command, by default of `repute plan`, with these flags, variables, and files in the config folder. */
async function read(
  flags: string,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
  name = "plan",
) {
  const XDG_CONFIG_HOME = await temporaryFolder();
  const folder = join(XDG_CONFIG_HOME, "repute");
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { command, flags: given } = await readLine([name, ...flags.split(" ").filter(Boolean)]);
  const context = { ...fakeContext(), env: { XDG_CONFIG_HOME, ...env } };
  const loaded = await readSettings(command!, given, context);
  if (loaded.fault !== null) throw loaded.fault as UsageError;
  return { ...loaded, folder, stderr: context.stderr.text };
}

async function refusal(...given: Parameters<typeof read>): Promise<UsageError> {
  const error: unknown = await read(...given).catch((fault: unknown) => fault);
  if (error instanceof UsageError) return error;
  throw new Error("it was accepted");
}

test("a flag overrides a variable, which overrides the profile, which overrides the file", async () => {
  const file = `
limit: 4
concurrency: 4
cache-ttl: 4h
timeout: 4s
profiles:
  slow: { limit: 3, prefix: p_, cache-ttl: 3h }
`;
  const env = { REPUTE_LIMIT: "2", REPUTE_PREFIX: "v_", REPUTE_PROFILE: "slow", REPUTE_SHEET: "" };
  const { settings, given } = await read("--limit 1", env, { "config.yaml": file });
  expect(settings).toMatchObject({ limit: 1, prefix: "v_", cacheTtl: 10_800_000 });
  expect(settings["sheet"]).toBeUndefined();
  expect(given.get("cacheTtl")?.name).toMatch(/^"cache-ttl" of profile "slow" in .*yaml:7:/);
  expect([...given.keys()].toSorted()).toEqual(["cacheTtl", "limit", "prefix", "profile"]);
});

test.each([
  "# nightly\nlimit: 3\nitemColumn: ioc\n",
  '{"limit": 3, "item-column": "ioc", "profiles": {"a": {}}}',
])("a file is found, and names flags in kebab or camel case: %s", async (text) => {
  const { settings, configFile, folder } = await read("", {}, { "config.yaml": text });
  expect(settings).toMatchObject({ limit: 3, itemColumn: "ioc" });
  expect(configFile).toBe(join(folder, "config.yaml"));
});

test.each(["", "# nothing\n"])("a file of %j sets nothing", async (text) => {
  expect((await read("", {}, { "config.yaml": text })).given.size).toBe(0);
});

test.each([
  [true, "1 TRUE yes on"],
  [false, "0 false no off"],
])("a switch is %s by a variable of %s", async (value, words) => {
  for (const text of words.split(" ")) {
    expect((await read("", { REPUTE_HEADER: text })).settings["header"], text).toBe(value);
  }
});

test("a variable that repute doesn't know is a warning; those of secrets are none", async () => {
  const secrets = { REPUTE_API_KEY: "a", REPUTE_ACCESS_TOKEN: "b", REPUTE_CASE_API_KEY: "c" };
  expect((await read("", secrets)).stderr).toBe("");
  const names = ["LIMITS", "limit", "_LIMIT", "ITEM__COLUMN", "CONSTRUCTOR"];
  const env = Object.fromEntries(names.map((name) => [`REPUTE_${name}`, "3"]));
  const { stderr, given } = await read("", env);
  expect([given.size, stderr.match(/unknown variable/g)]).toEqual([
    0,
    Array(5).fill("unknown variable"),
  ]);
  expect(stderr).toContain("unknown variable REPUTE_LIMITS; did you mean REPUTE_LIMIT?");
});

describe("a wrong value", () => {
  test.each([
    [
      "--intel-url https://i.example/b?key=s3cret",
      'must not have a query (?…); end it with the path; got "https://i.example/b?…"',
    ],
    [
      "--intel-url https://i.example/b#",
      'must not have a fragment (#…); end it with the path; got "https://i.example/b#"',
    ],
    ["--intel-url intel", 'must be an http:// or https:// address; got "intel"'],
    ["--limit many", 'must be a whole number; got "many"'],
    ["--limit=-1", 'must be at least 1; got "-1"'],
    ["--limit 1e3", 'must be a whole number; got "1e3"'],
    [
      "--limit 99999999999999999999",
      'must be at most 9007199254740991; got "99999999999999999999"',
    ],
    ["--limit 0", 'must be at least 1; got "0"'],
    ["--cache-ttl 5", 'must be a number and a unit (ms, s, m, h, d), such as 30s; got "5"'],
    ["--cache-ttl=-1h", 'must not be negative; got "-1h"'],
    ...["1e20", "1000000000", "99999999999999999999999"].map((count): [string, string] => [
      `--rate ${count}/s`,
      `must be at most 999,999,999 in a window; got "${count}/s"`,
    ]),
    ["--rate 5", 'must be a count and a window, such as 100/s, 600/min or 10000/d; got "5"'],
    [
      "--lookups quick",
      'must not contain the unknown lookup "quick" (did you mean quick-check?); got "quick"',
    ],
    [
      "--from ndjsn",
      'must be one of csv, tsv, json, ndjson, text; got "ndjsn" (did you mean ndjson?)',
    ],
    ["--item-column=", 'must not be empty; got ""'],
  ])("of %s gets a message with the allowed values", async (flags, message) => {
    expect((await refusal(flags)).message).toBe(`${/^--[\w-]+/.exec(flags)?.[0]} ${message}`);
  });

  test.each([
    ["--timeout 0s", 'must be from 1ms to 24h; got "0s"'],
    ["--timeout 30d", 'must be from 1ms to 24h; got "30d"'],
    ["--concurrency 9999", 'must be at most 4096; got "9999"'],
  ])("of %s has its limits", async (flags, message) => {
    expect((await refusal(flags, {}, {}, "enrich")).message).toContain(message);
  });

  test("names its origin, and shows neither a password nor much of it", async () => {
    expect((await refusal("", { REPUTE_LIMIT: "x" })).message).toMatch(/^REPUTE_LIMIT must be/);
    const file = { "config.yaml": "\nlimit: x\n" };
    expect((await refusal("", {}, file)).message).toMatch(/^"limit" in .*yaml:2:1 must be/);
    const { message } = await refusal("--intel-url ftp://me:secret@intel.example/beta");
    expect(message).not.toContain("secret");
    expect((await refusal(`--limit ${"x".repeat(5000)}`)).message.length).toBeLessThan(200);
  });
});

describe("a config file is refused", () => {
  const meant = 'did you mean "item-column"?';
  const keys = "keys are flags without their dashes";

  test.each([
    ['{\n  "item-colum": "ioc"\n}', 'yaml:2:3 has the unknown key "item-colum"', meant],
    ["limit: 1\nitem-colum: ioc\n", 'yaml:2:1 has the unknown key "item-colum"', meant],
    ["config: x\n", 'yaml:1:1 has the unknown key "config"', keys],
    ["constructor: x\n", 'has the unknown key "constructor"', keys],
    ["profiles:\n  a:\n    token: k-123\n", 'yaml:3:5 has the unknown key "token"', keys],
    ['{"api-key": "k-123"}', 'has the unknown key "api-key"', 'did you mean "api-key-file"?'],
    ['{\n  "limit": 1,\n  "rate": "5/s"', "yaml:3:16 is not valid YAML: ", "fix it there"],
    ['{"rate": "1/s", "rate": "2/s"}', "yaml:1:17 is not valid YAML: ", "fix it there"],
    ["limit: 1\nrate: [5/s\n", "yaml:3:1 is not valid YAML: ", "fix it there"],
    ["limit: *none\n", " is not valid YAML: ", "fix it there"],
    ["[1]", "yaml must map names of settings to values", "for example:"],
    ["just text", "yaml must map names of settings to values", "for example:"],
    ["limit: 1\nprofiles: [a]\n", "yaml:2:1 must map names of settings to values", "for example:"],
    [
      "profiles: {nightly: {}, weekly: {}}",
      'has no profile "slow" (--profile)',
      "its profiles are: nightly, weekly",
    ],
  ])("%j", async (text, message, hint) => {
    const flags = message.includes("profile") ? "--profile slow" : "";
    const error = await refusal(flags, {}, { "config.yaml": text });
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(JSON.stringify(error) + error.message).not.toContain("k-123");
  });

  test("where a profile has none", async () => {
    expect((await refusal("--profile x")).message).toBe("--profile needs a config file");
  });
});

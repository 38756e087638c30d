import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { settingsFromFile } from "../../../src/cli/command-line/config-file.js";
import { cliOptions, optionSpecs } from "../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../src/jobs/enrich/options.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const specs = [...optionSpecs(enrichOptions), ...optionSpecs(cliOptions)];

async function read(text: string, file = "repute.json", profile: string | null = null) {
  const path = join(await temporaryFolder(), file);
  await writeFile(path, text);
  const selected = { value: profile, level: "flag", name: "--profile" } as const;
  return settingsFromFile(path, specs, profile === null ? null : selected);
}

/** The same settings in each format. */
const formats = [
  [
    "config.json",
    `{
  "retries": 1,
  "lookups": ["query"],
  "profiles": {
    "nightly": { "rate": "5/s", "local": true }
  }
}`,
  ],
  [
    "config.yaml",
    `# nightly runs go slowly
retries: 1
lookups: [query]
profiles:
  nightly:
    rate: 5/s
    local: true
`,
  ],
] as const;

describe.each(formats)("%s", (file, text) => {
  test("yields typed values", async () => {
    const { general } = await read(text, file);
    expect([...general].map(([key, { value }]) => [key, value])).toEqual([
      ["retries", 1],
      ["lookups", ["query"]],
    ]);
  });

  test("yields the settings of the selected profile", async () => {
    const { profile } = await read(text, file, "nightly");
    expect([...profile].map(([key, { value, level }]) => [key, value, level])).toEqual([
      ["rate", "5/s", "profile"],
      ["local", true, "profile"],
    ]);
  });
});

test.each([
  ["config", '{"retries": 1}'],
  ["config.conf", "retries: 1\n"],
])("reads %s as YAML", async (file, text) => {
  expect((await read(text, file)).general.get("retries")?.value).toBe(1);
});

test.each(["", "# nothing\n"])("takes no settings from %j", async (text) => {
  expect((await read(text, "config.yaml")).general.size).toBe(0);
});

test("reads keys in kebab case and in camel case", async () => {
  const { general } = await read('{"item-column": "ioc", "partialRetries": 1}');
  expect([general.get("itemColumn")?.value, general.get("partialRetries")?.value]).toEqual([
    "ioc",
    1,
  ]);
});

describe("an unknown key", () => {
  test.each([
    ["config.json", '{\n  "item-colum": "ioc"\n}', "2:3"],
    ["config.yaml", "retries: 1\nitem-colum: ioc\n", "2:1"],
  ])("in %s is refused with its place and a suggestion", async (file, text, place) => {
    await expect(read(text, file)).rejects.toMatchObject({
      code: "unknown_config_key",
      message: expect.stringMatching(
        new RegExp(`/${file}:${place} has the unknown key "item-colum"$`),
      ) as unknown,
      hint: 'did you mean "item-column"?',
    });
  });

  test.each([
    ["config", "keys are flags without their dashes"],
    ["extends", "keys are flags without their dashes"],
    ["constructor", "keys are flags without their dashes"],
  ])("named %s gets its own hint", async (key, hint) => {
    await expect(read(JSON.stringify({ [key]: "x" }))).rejects.toMatchObject({ hint });
  });
});

test.each([
  ["config.json", '{"api-key": "k-123"}'],
  ["config.yaml", "profiles:\n  a:\n    token: k-123\n"],
])("refuses a secret in %s and does not show it", async (file, text) => {
  const error: unknown = await read(text, file).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "secret_in_config" });
  expect(JSON.stringify(error) + String(error)).not.toContain("k-123");
});

test.each([
  ['{\n  "retries": 1,\n  "rate": "5/s"', ":3:16 is not valid YAML: "],
  ['{"rate": "1/s", "rate": "2/s"}', ":1:17 is not valid YAML: "],
  ["retries: 1\nrate: [5/s\n", ":3:1 is not valid YAML: "],
  ["retries: 1\nretries: 2\n", ":2:1 is not valid YAML: "],
  ["retries: *none\n", " is not valid YAML: "],
])("names the place of the fault in %j", async (text, message) => {
  await expect(read(text, "config.yaml")).rejects.toMatchObject({
    code: "config_not_yaml",
    message: expect.stringContaining(`config.yaml${message}`) as unknown,
  });
});

test.each([
  ["c.json", "[1]", "c.json must hold settings by name"],
  ["c.yaml", "just text", "c.yaml must hold settings by name"],
  ["c.yaml", "retries: 1\nprofiles: [a]\n", "c.yaml:2:1 must hold settings by name"],
])("refuses %s without settings", async (file, text, message) => {
  await expect(read(text, file)).rejects.toMatchObject({
    code: "config_not_object",
    message: expect.stringContaining(message) as unknown,
  });
});

test("names the profiles of a file that lacks the one selected", async () => {
  await expect(
    read("profiles: {nightly: {}, weekly: {}}", "config.yaml", "production"),
  ).rejects.toMatchObject({ code: "profile_unknown", hint: "its profiles are: nightly, weekly" });
});

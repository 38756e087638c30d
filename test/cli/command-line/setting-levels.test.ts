import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  settingsFromEnvironment,
  unknownVariables,
} from "../../../src/cli/command-line/config-file.js";
import { optionSpecs } from "../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../src/jobs/enrich/options.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { runInProcess } from "../run-in-process.js";

/** A config folder with these files; returns the environment that points to it. */
async function configured(files: Readonly<Record<string, string>>) {
  const XDG_CONFIG_HOME = await temporaryFolder();
  const folder = join(XDG_CONFIG_HOME, "repute");
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { env: { XDG_CONFIG_HOME }, folder };
}

/** The hourly quotas that a plan is given. */
async function quotas(args: readonly string[], env: Readonly<Record<string, string>>) {
  const options = { env, stdin: "192.0.2.1\n" };
  const { code, stdout, stderr } = await runInProcess(["plan", "--json", ...args], options);
  expect([code, stderr.match(/^repute: (?!using column).*/m)]).toEqual([0, null]);
  const plan = JSON.parse(stdout) as { chosen: { quotas: readonly { count: number }[] } };
  return plan.chosen.quotas.map(({ count }) => count);
}

const profiles = "rate: 1/h\nprofiles:\n  fast: { rate: 2/h }\n";

test.each(["config.yaml", "config.yml", "config.json"])(
  "finds %s below XDG_CONFIG_HOME",
  async (name) => {
    const { env } = await configured({ [name]: '{"rate": "1/h"}' });
    expect(await quotas([], env)).toEqual([1]);
  },
);

test.each([
  ["the profile that a flag selects", ["--profile", "fast"], {}, 2],
  ["the profile that a variable selects", [], { REPUTE_PROFILE: "fast" }, 2],
  ["a variable before the profile", ["--profile", "fast"], { REPUTE_RATE: "3/h" }, 3],
  ["a flag before a variable", ["--rate", "4/h"], { REPUTE_RATE: "3/h" }, 4],
  ["the file alone without a profile", [], {}, 1],
  ["the file where the variable is empty", [], { REPUTE_RATE: "" }, 1],
])("uses %s", async (_, args, variables, count) => {
  const { env } = await configured({ "config.yaml": profiles });
  expect(await quotas(args, { ...env, ...variables })).toEqual([count]);
});

test("refuses two config files side by side and names both", async () => {
  const { env, folder } = await configured({ "config.json": "{}", "config.yaml": "" });
  const { code, stderr } = await runInProcess(["plan"], { env, stdin: "" });
  expect(code).toBe(2);
  expect(stderr).toContain(join(folder, "config.json"));
  expect(stderr).toContain(join(folder, "config.yaml"));
});

test("refuses a profile without a config file", async () => {
  const { code, stderr } = await runInProcess(["plan", "--profile", "x"], { stdin: "" });
  expect(code).toBe(2);
  expect(stderr).toContain("--profile needs a config file");
});

const specs = optionSpecs(enrichOptions);

test.each([
  ["1", true],
  ["TRUE", true],
  ["yes", true],
  ["on", true],
  ["0", false],
  ["false", false],
  ["no", false],
  ["off", false],
  ["maybe", "maybe"],
])("reads the switch value %s as %s", (text, value) => {
  const given = settingsFromEnvironment({ REPUTE_HEADER: text }, specs);
  expect(given.get("header")?.value).toBe(value);
});

test("suggests the right name for a mistyped variable", () => {
  expect(unknownVariables({ REPUTE_RETRYS: "3" }, specs)).toEqual([
    "unknown variable REPUTE_RETRYS; did you mean REPUTE_RETRIES?",
  ]);
});

test.each(["retries", "_RETRIES", "ITEM__COLUMN", "RETRIES__", "CONSTRUCTOR"])(
  "REPUTE_%s is an unknown variable",
  (rest) => {
    const env = { [`REPUTE_${rest}`]: "3" };
    expect(settingsFromEnvironment(env, specs).size).toBe(0);
    expect(unknownVariables(env, specs)).toHaveLength(1);
  },
);

test("accepts the variables of secrets", () => {
  const env = { REPUTE_API_KEY: "a", REPUTE_ACCESS_TOKEN: "b", REPUTE_CASE_API_KEY: "c" };
  expect(unknownVariables(env, specs)).toEqual([]);
});

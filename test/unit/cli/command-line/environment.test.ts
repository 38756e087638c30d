import { expect, test } from "vitest";
import {
  settingsFromEnvironment,
  unknownVariables,
} from "../../../../src/cli/command-line/setting-levels.js";
import { optionSpecs } from "../../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../../src/run/options.js";

const specs = optionSpecs(enrichOptions);

test("reads the variables of options and ignores others", () => {
  const given = settingsFromEnvironment({ REPUTE_RETRIES: "3", HOME: "/home/me" }, specs);
  expect([...given]).toEqual([
    ["retries", { value: "3", level: "variable", name: "REPUTE_RETRIES" }],
  ]);
});

test("ignores an empty variable", () => {
  expect(settingsFromEnvironment({ REPUTE_RETRIES: "" }, specs).size).toBe(0);
});

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

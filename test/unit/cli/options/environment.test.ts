import { expect, test } from "vitest";
import {
  settingsFromEnvironment,
  unknownVariables,
} from "../../../../src/cli/options/config-file.js";
import { optionSpecs } from "../../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../../src/pipeline/options.js";

const specs = optionSpecs(enrichOptions);

test("reads the variables of options and leaves others alone", () => {
  const given = settingsFromEnvironment({ REPUTE_RETRIES: "3", HOME: "/home/me" }, specs);
  expect([...given]).toEqual([
    ["retries", { value: "3", level: "variable", name: "REPUTE_RETRIES" }],
  ]);
});

test("an empty variable says nothing", () => {
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
])("reads %s for a switch", (text, value) => {
  const given = settingsFromEnvironment({ REPUTE_HEADER: text }, specs);
  expect(given.get("header")?.value).toBe(value);
});

test("warns of a mistyped variable and proposes the right one", () => {
  expect(unknownVariables({ REPUTE_RETRYS: "3" }, specs)).toEqual([
    "REPUTE_RETRYS is no variable that repute knows; did you mean REPUTE_RETRIES?",
  ]);
});

test("knows the variables of secrets", () => {
  const env = { REPUTE_API_KEY: "a", REPUTE_ACCESS_TOKEN: "b", REPUTE_CASE_API_KEY: "c" };
  expect(unknownVariables(env, specs)).toEqual([]);
});

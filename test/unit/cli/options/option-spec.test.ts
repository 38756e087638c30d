import { expect, test } from "vitest";
import { z } from "zod";
import { option, wholeNumber } from "../../../../src/core/options.js";
import {
  flagName,
  optionSpecs,
  variableName,
  writtenFlag,
} from "../../../../src/cli/options/option-spec.js";

const schema = z.strictObject({
  itemColumn: option(z.string().optional(), { description: "Column of the item", value: "NAME" }),
  header: option(z.boolean().default(true), { description: "First line names the columns" }),
  quiet: option(z.boolean().default(false), { description: "Say nothing", alias: "q" }),
  shape: option(z.enum(["flat", "nested"]).optional(), { description: "Shape", value: "SHAPE" }),
  level: option(z.enum(["first-choice", "second-choice"]).default("first-choice"), {
    description: "Level",
    value: "LEVEL",
  }),
  retries: option(wholeNumber(0).prefault(5), { description: "Retries", value: "N" }),
});

const specs = Object.fromEntries(optionSpecs(schema).map((spec) => [spec.key, spec]));

test("a flag is the member's name in kebab case", () => {
  expect(flagName("partialRetries")).toBe("partial-retries");
});

test("a variable is REPUTE_ and the name in upper snake case", () => {
  expect(variableName("partialRetries")).toBe("REPUTE_PARTIAL_RETRIES");
});

test("a switch is recognised through its default", () => {
  expect(specs["header"]?.isSwitch).toBe(true);
});

test("an option that is no boolean takes a value", () => {
  expect(specs["itemColumn"]?.isSwitch).toBe(false);
});

test("a default is shown as typed on the command line, with default() and prefault()", () => {
  expect([specs["retries"]?.defaultText, specs["level"]?.defaultText]).toEqual([
    "5",
    "first-choice",
  ]);
});

test("an option without a default has none", () => {
  expect(specs["itemColumn"]?.defaultText).toBeNull();
});

test("few choices are the placeholder themselves", () => {
  expect(specs["shape"]?.placeholder).toBe("flat|nested");
});

test("many choices are listed beside a placeholder", () => {
  expect(specs["level"]).toMatchObject({
    placeholder: "LEVEL",
    choices: ["first-choice", "second-choice"],
  });
});

test("description and alias come from the schema", () => {
  expect(specs["quiet"]).toMatchObject({ description: "Say nothing", alias: "q" });
});

test("a switch that is on is written as its negative", () => {
  expect(optionSpecs(schema).map(writtenFlag)).toEqual([
    "--item-column NAME",
    "--no-header",
    "--quiet",
    "--shape flat|nested",
    "--level LEVEL",
    "--retries N",
  ]);
});

import { expect, test } from "vitest";
import { z } from "zod";
import { option, wholeNumber } from "../../../src/core/options.js";
import { optionSpecs, writtenFlag } from "../../../src/cli/options/option-spec.js";

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

test("shows a default as typed on the command line, with default() and prefault()", () => {
  expect([specs["retries"]?.defaultText, specs["level"]?.defaultText]).toEqual([
    "5",
    "first-choice",
  ]);
});

test("uses few choices as the placeholder", () => {
  expect(specs["shape"]?.placeholder).toBe("flat|nested");
});

test("lists many choices beside a placeholder", () => {
  expect(specs["level"]).toMatchObject({
    placeholder: "LEVEL",
    choices: ["first-choice", "second-choice"],
  });
});

test("writes a switch that is on as its negative", () => {
  expect(optionSpecs(schema).map(writtenFlag)).toEqual([
    "--item-column NAME",
    "--no-header",
    "--quiet",
    "--shape flat|nested",
    "--level LEVEL",
    "--retries N",
  ]);
});

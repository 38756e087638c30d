import { expect, test } from "vitest";
import { DistinctTexts } from "../../../../src/run/plan/planned-items.js";

test("counts each text once, however many there are", () => {
  const texts = new DistinctTexts();
  for (let i = 0; i < 20_000; i++) texts.add(`text ${i % 7000}`);
  expect(texts.size).toBe(7000);
});

test("add tells whether a text is new", () => {
  const texts = new DistinctTexts();
  expect([texts.add("a"), texts.add("b"), texts.add("a")]).toEqual([true, true, false]);
});

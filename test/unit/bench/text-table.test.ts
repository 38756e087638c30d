import { expect, test } from "vitest";
import { figure, textTable } from "../../bench/text-table.mjs";

test("columns are aligned, numbers to the right", () => {
  const table = textTable(
    ["measure", "ratio", "wanted"],
    [
      ["csv", "0.6 (0.5–0.7)", "≥ 0.6"],
      ["warm cache", "1.2", ""],
      ["python", "", ""],
    ],
  );
  expect(table.split("\n")).toEqual([
    "| measure    |         ratio | wanted |",
    "| ---------- | ------------: | ------ |",
    "| csv        | 0.6 (0.5–0.7) | ≥ 0.6  |",
    "| warm cache |           1.2 |        |",
    "| python     |               |        |",
    "",
  ]);
});

test("a column with a word in it is text", () => {
  expect(
    textTable(
      ["a", "b"],
      [
        ["x", "1"],
        ["y", "not installed"],
      ],
    ),
  ).toContain("| x   | 1  ");
});

test("figures have three significant digits", () => {
  expect([0.58349, 7.6149, 24_849, 0.0001234, 100, 1234.5].map(figure)).toEqual([
    "0.583",
    "7.61",
    "24,800",
    "0.000123",
    "100",
    "1,230",
  ]);
  expect(figure(Number.NaN)).toBe("–");
});

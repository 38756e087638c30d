import { expect, test } from "vitest";
import { alignedTable } from "../../../src/cli/aligned-table.js";

test("columns line up under their names", () => {
  const table = alignedTable(
    ["item", "kind"],
    [
      ["192.0.2.1", "ip"],
      ["a.example", "domain"],
    ],
    80,
  );
  expect(table).toBe("item       kind\n192.0.2.1  ip\na.example  domain\n");
});

test("a column without any value is left out", () => {
  expect(alignedTable(["item", "tags", "kind"], [["a", "", "ip"]], 80)).toBe(
    "item  kind\na     ip\n",
  );
});

test("a line fits the width: the widest columns give way", () => {
  const table = alignedTable(
    ["item", "kind", "error"],
    [["a".repeat(50), "ip", "x".repeat(200)]],
    60,
  );
  expect(table.split("\n")[1]).toBe(`${"a".repeat(25)}…  ip    ${"x".repeat(25)}…`);
});

test("no column is narrower than eight characters for it", () => {
  const table = alignedTable(["item", "error"], [["a".repeat(50), "x".repeat(50)]], 10);
  expect(table.split("\n")[1]).toBe("aaaaaaa…  xxxxxxx…");
});

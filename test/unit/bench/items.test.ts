import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { itemAt, writeInput } from "../../bench/items.mjs";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("items are distinct, in normal form, and from reserved ranges", () => {
  const items = Array.from({ length: 300_000 }, (_, n) => itemAt(n));
  expect(new Set(items).size).toBe(items.length);
  const odd = items.filter((text) => recogniseItem(text).item?.value !== text);
  expect(odd).toEqual([]);
  expect(items.every((text) => /^198\.1[89]\.|^2001:db8:/.test(text))).toBe(true);
});

test("an input has as many rows as requested, the same every time", async () => {
  const path = join(await temporaryFolder(), "input.csv");
  await writeInput(path, 3);
  const first = await readFile(path, "utf8");
  expect(first.split("\n").slice(0, 2)).toEqual([
    "id,ip,seen,note",
    '1,198.18.0.7,2026-01-01T02:00:00Z,"port scan, 0 packets"',
  ]);
  expect(first.trimEnd().split("\n")).toHaveLength(4);
  await writeInput(path, 3);
  expect(await readFile(path, "utf8")).toBe(first);
});

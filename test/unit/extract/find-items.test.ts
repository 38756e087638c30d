import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { itemFinder } from "../../../src/extract/find-items.js";

/** The texts of a set, with what was found in them and what should have been. */
function readSet(name: string) {
  const folder = join(import.meta.dirname, name);
  const findItems = itemFinder();
  return readdirSync(folder)
    .filter((file) => !file.endsWith(".expected"))
    .map((file) => {
      const found = new Set<string>();
      findItems(readFileSync(join(folder, file), "utf8"), ({ item }) => found.add(item.value));
      const labels = readFileSync(join(folder, file.replace(/\.\w+$/, ".expected")), "utf8");
      return { found, meant: new Set(labels.split("\n").filter((line) => line !== "")) };
    });
}

// The texts of "held-out" were written and labelled without the rules at hand.
it.each([
  ["corpus", 0.97, 0.97],
  ["held-out", 0.9, 0.97],
])("finds nearly all items of the set %s, and hardly anything else", (name, precise, complete) => {
  const texts = readSet(name);
  const sum = (count: (text: (typeof texts)[number]) => number) =>
    texts.reduce((total, text) => total + count(text), 0);
  const hits = sum(({ found, meant }) => [...found].filter((item) => meant.has(item)).length);
  const precision = hits / sum(({ found }) => found.size);
  const recall = hits / sum(({ meant }) => meant.size);
  const wrong = texts.flatMap(({ found, meant }) => [
    ...[...found].filter((item) => !meant.has(item)).map((item) => `false: ${item}`),
    ...[...meant].filter((item) => !found.has(item)).map((item) => `missed: ${item}`),
  ]);
  expect([precision >= precise, recall >= complete], wrong.join("\n")).toEqual([true, true]);
});

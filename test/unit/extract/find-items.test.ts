import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { itemFinder } from "../../../src/extract/find-items.js";

const corpus = join(import.meta.dirname, "corpus");
const texts = readdirSync(corpus).filter((name) => !name.endsWith(".expected"));

it("finds nearly all items of reports, mails, logs and JSON, and hardly anything else", () => {
  const findItems = itemFinder();
  let hits = 0;
  let found = 0;
  let meant = 0;
  const wrong: string[] = [];
  for (const name of texts) {
    const items = new Set(
      findItems(readFileSync(join(corpus, name), "utf8")).map(({ item }) => item.value),
    );
    const labels = readFileSync(join(corpus, name.replace(/\.\w+$/, ".expected")), "utf8");
    const expected = new Set(labels.split("\n").filter((line) => line !== ""));
    hits += [...items].filter((item) => expected.has(item)).length;
    found += items.size;
    meant += expected.size;
    wrong.push(
      ...[...items, ...expected].filter((item) => !(items.has(item) && expected.has(item))),
    );
  }
  expect([hits / found >= 0.97, hits / meant >= 0.97], wrong.join("\n")).toEqual([true, true]);
});

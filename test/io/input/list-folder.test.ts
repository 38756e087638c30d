import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseFiles } from "../../../src/io/input/list-inputs.js";

const choice = { own: null, anyFile: false, recursive: true, parse: (path: string) => ({ path }) };

/** What is chosen of these files, in this order. */
const chosenOf = (paths: readonly string[]) =>
  chooseFiles("in", { name: "in/", entries: new Map(paths.map((path) => [path, "file"])) }, choice);

const paths = fc.uniqueArray(
  fc
    .array(fc.constantFrom("a", "a-b", "a.b", "b", "B", "ä", "0"), { minLength: 1, maxLength: 4 })
    .map((parts) => `${parts.join("/")}.csv`),
  { minLength: 1, maxLength: 30 },
);

test("lists the files of a tree by path, whatever the order of its entries", () => {
  fc.assert(
    fc.property(paths, (some) => {
      const { inputs } = chosenOf(some);
      const sorted = some.map((path) => `in/${path}`).toSorted((a, b) => (a < b ? -1 : 1));
      expect(inputs.map(({ name }) => name)).toEqual(sorted);
    }),
  );
});

test("leaves out hidden files and what repute wrote, at any depth", () => {
  const tree = [
    "x/.hidden.csv",
    "x/a.csv",
    "x/out.csv",
    "x/out.csv.manifest.json",
    "x/out.csv.failed",
    "x/out.ndjson.state/run.db",
    "x/out.ndjson.state/input.ndjson",
    "x/mine.state/b.csv",
  ];
  const { inputs, skipped } = chosenOf(tree);
  expect(inputs.map(({ name }) => name)).toEqual(["in/x/a.csv", "in/x/mine.state/b.csv"]);
  expect(skipped.map(({ path, reason }) => [path, reason])).toEqual([
    ["in/x/.hidden.csv", "hidden"],
    ["in/x/out.csv", "an output of repute"],
    ["in/x/out.csv.failed", "a run wrote it beside its output"],
    ["in/x/out.csv.manifest.json", "a run wrote it beside its output"],
    ["in/x/out.ndjson.state", "the state of a run"],
  ]);
});

test("says that nothing but outputs of repute is in a folder", () => {
  expect(() => chosenOf(["out.csv", "out.csv.manifest.json"])).toThrow(
    "in has no file of a known format",
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { listFolder } from "../../../src/io/input/list-inputs.js";
import { fileInput } from "../../../src/io/input/types.js";

type InputFolder = Parameters<typeof listFolder>[1];

/** A folder in memory, whose entries come in the order of the paths. */
function folderOf(name: string, paths: readonly string[]): InputFolder {
  const entries = new Set(paths.map((path) => /^[^/]*\/?/.exec(path)?.[0] ?? ""));
  return {
    name,
    entries: [...entries],
    pathOf: (entry) => `/nowhere/${name}${entry}`,
    kindOf: () => Promise.resolve("file"),
    open: (entry) => {
      const within = paths.filter((path) => path.startsWith(entry));
      const rest = within.map((path) => path.slice(entry.length));
      return Promise.resolve(folderOf(name + entry, rest));
    },
  };
}

const choice = { own: null, anyFile: false, recursive: true, parse: fileInput };

const paths = fc.uniqueArray(
  fc
    .array(fc.constantFrom("a", "a-b", "a.b", "b", "B", "ä", "0"), { minLength: 1, maxLength: 4 })
    .map((parts) => `${parts.join("/")}.csv`),
  { minLength: 1, maxLength: 30 },
);

test("lists the files of a tree by path, whatever the order of its entries", async () => {
  await fc.assert(
    fc.asyncProperty(paths, async (some) => {
      const { inputs } = await listFolder("in", folderOf("in/", some), choice);
      const sorted = some.map((path) => `in/${path}`).toSorted((a, b) => (a < b ? -1 : 1));
      expect(inputs.map(({ name }) => name)).toEqual(sorted);
    }),
  );
});

test("leaves out hidden files and what repute wrote, at any depth", async () => {
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
  const { inputs, skipped } = await listFolder("in", folderOf("in/", tree), choice);
  expect(inputs.map(({ name }) => name)).toEqual(["in/x/a.csv", "in/x/mine.state/b.csv"]);
  expect(skipped.map(({ path, reason }) => [path, reason])).toEqual([
    ["in/x/.hidden.csv", "hidden"],
    ["in/x/out.csv", "an output of repute"],
    ["in/x/out.csv.failed", "a run wrote it beside its output"],
    ["in/x/out.csv.manifest.json", "a run wrote it beside its output"],
    ["in/x/out.ndjson.state", "the state of a run"],
  ]);
});

test("says that only outputs of repute are in a folder", async () => {
  const tree = ["out.csv", "out.csv.manifest.json"];
  await expect(listFolder("in", folderOf("in/", tree), choice)).rejects.toMatchObject({
    code: "input_folder_empty",
    message: "in has no file of a known format, except outputs of repute",
  });
});

import { describe, expect, it } from "vitest";
import { encodeText } from "../../../src/core/bytes.js";
import { openSource, piped, readSource } from "../input/sources/sources-reading.js";

describe("text source", () => {
  it.each([
    ["has one column and one row per line", "a\nb, c\n", ["a", "b, c"]],
    ["skips blank lines and comments", "# x\n\n  \t\n  # y\na # z\n", ["a # z"]],
    ["keeps spaces around an item but not the line end", " a \r\n", [" a "]],
    ["has no rows if empty", "", []],
    ["skips lines with the given comment marker", "; x\na\n", ["a"]],
  ])("%s", async (_, content, items) => {
    const { source, rows } = await readSource("text", piped(content), { comment: ";" });
    expect([source.columns, rows.map((row) => row.cells)]).toEqual([
      ["item"],
      items.map((item) => [item]),
    ]);
  });

  it.each([
    ["# a\n ; b\n", 1, "# a"],
    ["; list\n\n  # of names\nexample.com\n# not this\n", 2, "; list / # of names"],
    ["example.com\n# x\n", undefined, undefined],
  ])("says which lines it skips before the first: %j", async (content, lines, text) => {
    const { reading } = await readSource("text", piped(content)).then(({ source }) => source);
    expect(reading.skipped).toEqual(text && { lines, text });
  });

  it("reads lines that end with CR only", async () => {
    const { rows } = await readSource("text", piped("a\rb\r", 1));
    expect(rows.map((row) => row.itemText)).toEqual(["a", "b"]);
  });

  it("preserves invalid UTF-8", async () => {
    const { rows } = await readSource("text", piped(Buffer.from("\xdcbel\nü", "latin1")));
    expect(rows.map((row) => encodeText(row.itemText).toString("latin1"))).toEqual([
      "\xdcbel",
      "ü",
    ]);
  });

  it("accepts its own column name as item column", async () => {
    const { source } = await readSource("text", piped("a\n"), { itemColumn: "Item" });
    expect(source.reading.items[0].name).toBe("item");
  });

  it.each(["itemColumn", "kindColumn"] as const)("rejects another %s", async (option) => {
    const opening = openSource("text", piped("a\n"), { [option]: "data" });
    await expect(opening).rejects.toMatchObject({ code: "column_not_found" });
  });
});

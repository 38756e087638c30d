import { describe, expect, it } from "vitest";
import { encodeText } from "../../../../src/core/bytes.js";
import { openSource, piped, readSource } from "../../../contract/sources-reading.js";

describe("text source", () => {
  it("has one column and one row per line", async () => {
    const { source, rows } = await readSource("text", piped("a\nb, c\n"));
    expect([source.columns, rows.map((row) => row.cells)]).toEqual([["item"], [["a"], ["b, c"]]]);
  });

  it("skips blank lines and comments", async () => {
    const { rows } = await readSource("text", piped("# x\n\n  \t\n  # y\na # z\n"));
    expect(rows.map((row) => row.itemText)).toEqual(["a # z"]);
  });

  it("skips lines with the given comment marker", async () => {
    const { rows } = await readSource("text", piped("; x\na\n"), { comment: ";" });
    expect(rows.map((row) => row.itemText)).toEqual(["a"]);
  });

  it("keeps spaces around an item but not the line end", async () => {
    const { rows } = await readSource("text", piped(" a \r\n"));
    expect(rows[0]?.cells).toEqual([" a "]);
  });

  it("reads lines that end with CR only", async () => {
    const { rows } = await readSource("text", piped("a\rb\r", 1));
    expect(rows.map((row) => [row.itemText, row.line, row.end])).toEqual([
      ["a", 1, 2],
      ["b", 2, 4],
    ]);
  });

  it("has no rows if empty", async () => {
    const { rows } = await readSource("text", piped(""));
    expect(rows).toEqual([]);
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

  it("ends with an error at a line over 16 MiB", async () => {
    const reading = readSource("text", piped(`a\n${"x".repeat(16 * 1024 * 1024 + 1)}\n`));
    await expect(reading).rejects.toMatchObject({
      code: "input_record_too_long",
      message: "line 2 of stdin is longer than the limit of 16 MiB",
    });
  });
});

import { describe, expect, it } from "vitest";
import { isEmptyCell, recogniseItem } from "../../../src/core/item/recognise.js";

describe("isEmptyCell", () => {
  it.each([
    ..."N/A n/a - -- --- – — − none NONE None null NULL nil unknown Unknown n/d N/D ? ???".split(
      " ",
    ),
    ..."NA #N/A NaN undefined (null) <none> 'null' “unknown”".split(" "),
    "",
    " ",
    " \u200b\ufeff",
    '""',
    " - ",
    "\tn/a\t",
    "N/A,",
  ])("takes %j for an empty cell", (text) => {
    expect(isEmptyCell(text)).toBe(true);
    expect(recogniseItem(text).reason?.code).toBe("empty");
  });

  it.each([
    "none.example.com",
    "unknown@example.com",
    "nil.to",
    "0",
    ".",
    "-.com",
    "na.example.com",
  ])("does not take %j for one", (text) => {
    expect(isEmptyCell(text)).toBe(false);
    expect(recogniseItem(text).reason?.code).not.toBe("empty");
  });
});

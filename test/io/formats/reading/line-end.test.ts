import { describe, expect, it } from "vitest";
import { countLineEnds } from "../../../../src/io/formats/reading/sample.js";
import { lineEndOf, showsLineEnd } from "../../../../src/io/input/open-input.js";

describe("lineEndOf", () => {
  it.each([
    ["a\nb\n", "lf"],
    ["a\r\nb", "lf"],
    ["a\rb\n", "lf"],
    ["a\rb\r", "cr"],
    ["a", "lf"],
    ["", "lf"],
  ])("tells of %j: %s", (head, lineEnd) => {
    expect(lineEndOf(Buffer.from(head))).toBe(lineEnd);
  });

  it("examines only the first 64 KiB", () => {
    const head = Buffer.from(`a\r${"b".repeat(65_536)}\n`);
    expect(lineEndOf(head)).toBe("cr");
  });
});

it.each([
  ["a\n", true],
  ["a\rb", false],
  ["a".repeat(65_536), true],
])("showsLineEnd tells of %j whether it is enough", (head, enough) => {
  expect(showsLineEnd(Buffer.from(head))).toBe(enough);
});

describe("countLineEnds", () => {
  const text = "a\nb\r\nc\rd\r\r\n";

  it("counts LF, with or without CR", () => {
    expect(countLineEnds(text, "lf")).toBe(3);
  });

  it('counts CR, LF and CRLF with "cr"', () => {
    expect(countLineEnds(text, "cr")).toBe(5);
  });
});

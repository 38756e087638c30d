import { describe, expect, it, test } from "vitest";
import { fileEndings, FileStems } from "../../../../src/jobs/tags/folder/export-index.js";

function stemOf(tag: string): string {
  return new FileStems([]).of(tag);
}

test.each([
  ["credentials:brute-force", "credentials--brute-force"],
  ["a:b:c", "a--b%3Ac"],
  ["a:../../etc/passwd", "a--..%2F..%2Fetc%2Fpasswd"],
  ["a b:c\n", "a%20b--c%0A"],
  ["ü:é", "%C3%BC--%C3%A9"],
  ["plain", "plain"],
  ["..", "%2E."],
  [".hidden:x", "%2Ehidden--x"],
  ["-rf:x", "%2Drf--x"],
])("%j gets files that start with %s", (tag, stem) => {
  expect(stemOf(tag)).toBe(stem);
});

describe("ambiguous names", () => {
  test.each([
    ["a:b--c", "a--b:c"],
    ["a:b", "a:B"],
    ["a:b", "a:b.added"],
    ["a:b", "a--b"],
  ])("%s and %s get files of their own", (one, other) => {
    const stems = new FileStems([]);
    const files = [one, other].flatMap((tag) =>
      fileEndings.map((ending) => `${stems.of(tag)}.${ending}`.toLowerCase()),
    );
    expect(new Set(files).size).toBe(files.length);
  });

  it("leave the first one its plain name", () => {
    const stems = new FileStems([]);
    stems.of("a:b--c");
    stems.of("a--b:c");
    expect(stems.of("a:b--c")).toBe("a--b--c");
    expect(stems.of("a--b:c")).toMatch(/^a--b--c\.[0-9a-f]{8}$/);
  });

  it("keep the stems recorded in the folder", () => {
    const stems = new FileStems([{ name: "a:B", stem: "a--B" }]);
    expect(stems.of("a:b")).toMatch(/^a--b\.[0-9a-f]{8}$/);
    expect(stems.of("a:B")).toBe("a--B");
  });
});

describe("a name of 300 characters", () => {
  it("is cut to the maximum length of a file name", () => {
    const stem = stemOf(`a:${"x".repeat(300)}`);
    expect(`${stem}.removed.txt`.length).toBeLessThan(255);
    expect(stem).toMatch(/\.[0-9a-f]{8}$/);
  });

  it("is not cut within an encoded byte", () => {
    for (let length = 0; length < 3; length++) {
      expect(stemOf("a".repeat(length) + "ü".repeat(300))).toMatch(
        /^a*(?:%[0-9A-F]{2})+\.[0-9a-f]{8}$/,
      );
    }
  });
});

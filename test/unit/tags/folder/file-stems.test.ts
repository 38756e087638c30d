import { describe, expect, it, test } from "vitest";
import { fileEndings, FileStems } from "../../../../src/tags/folder/file-stems.js";

function stemOf(tag: string): string {
  return new FileStems([]).of(tag);
}

test.each([
  ["credentials:brute-force", "credentials--brute-force"],
  ["actor:APT28", "actor--APT28"],
  ["a:b:c", "a--b%3Ac"],
  ["a:b/c", "a--b%2Fc"],
  ["a:../../etc/passwd", "a--..%2F..%2Fetc%2Fpasswd"],
  ["a b:c\n", "a%20b--c%0A"],
  ["a:100%", "a--100%25"],
  ["ü:é", "%C3%BC--%C3%A9"],
  ["plain", "plain"],
  ["..", "%2E."],
  [".hidden:x", "%2Ehidden--x"],
  ["-rf:x", "%2Drf--x"],
  [":x", "%2D-x"],
  ["x:", "x--"],
  ["a:\0", "a--%00"],
])("%j gets files that start with %s", (tag, stem) => {
  expect(stemOf(tag)).toBe(stem);
});

describe("ambiguous names", () => {
  test.each([
    ["a:b--c", "a--b:c"],
    ["a-:b", "a:-b"],
    ["a:b", "a:B"],
    ["a:b", "a:b.added"],
    ["a:b.removed", "a:b"],
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

  it("differs from another with the same prefix", () => {
    const stems = new FileStems([]);
    const long = `a:${"x".repeat(300)}`;
    expect(stems.of(`${long}1`)).not.toBe(stems.of(`${long}2`));
  });

  it("is not cut within an encoded byte", () => {
    for (let length = 0; length < 3; length++) {
      expect(stemOf("a".repeat(length) + "ü".repeat(300))).toMatch(
        /^a*(?:%[0-9A-F]{2})+\.[0-9a-f]{8}$/,
      );
    }
  });
});

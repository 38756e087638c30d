import { describe, expect, it } from "vitest";
import {
  chooseItemColumn,
  chooseKindColumn,
  rateColumns,
  type SampledColumn,
} from "../../../../src/formats/columns/choose-column.js";

/** Columns of a table; adjacent ones are neighbours. */
function table(columns: Readonly<Record<string, readonly (string | null)[]>>): SampledColumn[] {
  const names = Object.keys(columns);
  return names.map((name, index) => ({
    name,
    cells: columns[name]!,
    neighbours: [index - 1, index + 1].filter((n) => n >= 0 && n < names.length),
  }));
}

const ip = "192.0.2.1";
const sha256 = "a".repeat(64);

/** Ten cells, `n` of them addresses. */
function tenths(count: number): string[] {
  return Array.from({ length: 10 }, (_, n) => (n < count ? ip : "words"));
}

function chosen(columns: Parameters<typeof table>[0]): string {
  const { item, problem } = chooseItemColumn(table(columns));
  return item === null ? problem : `${item.name} by ${item.by}`;
}

describe("chooseItemColumn", () => {
  it.each(["item", "indicator", "ioc", "value", "data"])(
    "prefers the customary name %s to a column with a larger share",
    (name) => {
      const cells = { peer: tenths(10), [` ${name.toUpperCase()} `]: tenths(5) };
      expect(chosen(cells)).toBe(` ${name.toUpperCase()}  by name`);
    },
  );

  it("takes the first customary name in the list's order", () => {
    expect(chosen({ data: tenths(10), value: tenths(9), domain: tenths(10) })).toBe(
      "value by name",
    );
  });

  it("skips a customary name with a share below one half", () => {
    expect(chosen({ indicator: tenths(0), data: tenths(9) })).toBe("data by name");
    expect(chosen({ ioc: tenths(4), peer: tenths(9) })).toBe("peer by share");
  });

  it.each([
    [10, 9, "several"],
    [10, 8, "src by share"],
    [4, 0, "none"],
  ])("of shares of %d and %d tenths chooses: %s", (src, dst, result) => {
    expect(chosen({ src: tenths(src), note: tenths(0), dst: tenths(dst) })).toBe(result);
  });

  const urls = (count: number): string[] =>
    tenths(count).map((cell) => (cell === ip ? "https://example.com/" : ""));
  const hashes = tenths(10).map(() => sha256);

  it.each([
    ["the only hash that can be looked up", { sha256: hashes, md5: tenths(0), sha1: tenths(10) }],
    ["addresses beside hashes under a customary name", { Indicator: hashes, sha1: tenths(10) }],
    ["addresses beside fewer URLs", { sha1: tenths(10), url: urls(4) }],
  ])("takes %s", (_, cells) => {
    expect(chosen(cells)).toBe("sha1 by share");
  });

  it.each([
    ["URLs in most rows beside addresses", { src: tenths(10), url: urls(6) }],
    ["two columns of hashes that nothing can be looked up from", { sha256: hashes, md5: hashes }],
  ])("refuses %s", (_, cells) => {
    expect(chosen(cells)).toBe("several");
  });

  it("ignores empty cells", () => {
    expect(chosen({ src: [ip, "", " ", ip], dst: ["x", ip, "y", "z"] })).toBe("src by share");
  });

  it("counts cells labelled by a neighbour only under a customary name", () => {
    const accounts = ["svc-backup", "svc-mail", "guest"];
    const kind = ["user_account", "tool", "mutex"];
    expect(chosen({ kind, data: accounts })).toBe("data by name");
    expect(chosen({ kind, account: accounts })).toBe("none");
  });
});

describe("rateColumns", () => {
  it.each([
    ["an item", ip, 1],
    ["a defanged item", "hxxp://example[.]com/a", 1],
    ["a hash of another kind", sha256, 1],
    ["a network", "192.0.2.0/24", 1],
    ["a file name", "setup.exe", 0.5],
    ["a date", "2026-03-01T04:00:00Z", 0],
  ])("counts %s as %3$d", (_, cell, share) => {
    const [column] = rateColumns(table({ any: [cell, ""] }));
    expect(column?.sample).toMatchObject({ cells: 1, indicators: share > 0 ? 1 : 0, share });
  });
});

describe("chooseKindColumn", () => {
  const values = [ip, "example.com", "setup.exe", sha256];

  it.each([
    ["left", { indicator_type: ["ip", "domain", "filename", "sha256"], data: values }, 1],
    ["right", { data: values, "IOC Type": ["ip", "campaign", "x", "y"] }, 0],
    ["left, by its words", { category: ["ip", "domain", "seen", "sha256"], data: values }, 1],
  ])("takes the neighbour on the %s", (_, columns, item) => {
    const kind = chooseKindColumn(table(columns), item);
    expect(kind).toEqual({
      name: Object.keys(columns)[1 - item],
      index: 1 - item,
      by: "neighbour",
    });
  });

  it.each([
    ["names no kind that repute knows", { type: ["malware", "phishing"], data: values }, 1],
    ["mostly names something else", { note: ["ip", "seen", "in", "March"], data: values }, 1],
    ["is not beside it", { type: ["ip", "domain"], note: ["x", "y"], data: values }, 2],
  ])("does not take a column that %s", (_, columns, item) => {
    expect(chooseKindColumn(table(columns), item)).toBeNull();
  });
});

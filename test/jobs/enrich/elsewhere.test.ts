import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import type { IsHeld } from "../../../src/io/formats/columns/rate-columns.js";
import { itemRow, type Row } from "../../../src/core/row.js";
import { Elsewhere } from "../../../src/jobs/enrich/elsewhere.js";
import { insideWarning } from "../../../src/jobs/enrich/warnings.js";
import { readingOf } from "../../io/input/sources/sources-reading.js";

const sha1 = "a".repeat(40);

interface Watched {
  readonly isHeld?: IsHeld;
  readonly ofFiles?: readonly string[];
  readonly before?: object;
}

function watching(
  columns: readonly string[],
  chosen: string,
  { isHeld = () => false, ofFiles = [], before = {} }: Watched = {},
): Elsewhere {
  const elsewhere = new Elsewhere(before);
  const index = Math.max(0, columns.indexOf(chosen));
  const items = [{ name: chosen, index, by: "name", sample: null }] as const;
  const reading = { ...readingOf("csv", chosen), items, ofFiles };
  elsewhere.watch({ columns, reading }, isHeld);
  return elsewhere;
}

/** What is counted in these rows. */
function counted(rows: readonly Row[], ...watched: Parameters<typeof watching>): object {
  const elsewhere = watching(...watched);
  noteAll(elsewhere, rows);
  return elsewhere.snapshot();
}

function row(number: number, cells: readonly string[], json: string | null = null): Row {
  return { ...itemRow(cells[0] ?? "", number), cells, json };
}

function noteAll(elsewhere: Elsewhere, rows: readonly Row[]): void {
  for (const each of rows) elsewhere.note(each, recogniseItem(each.itemText).item);
}

describe("Elsewhere", () => {
  it.each<[string, string, object]>([
    ["a hash", sha1, { elsewhere: { other: 1 } }],
    ["a private address", "10.0.0.5", {}],
    ["an excluded name", "mail.corp.example.com", {}],
    ["a placeholder", "N/A", {}],
    ["another sort of hash", "b".repeat(64), {}],
    ["items in a sentence", "seen with example.com and http://example.net/a", { inside_cells: 2 }],
  ])("counts %s in another column", (_, cell, counts) => {
    const isHeld = ({ value }: { readonly value: string }): boolean => value.endsWith(".com");
    const options = cell.includes("corp") ? { isHeld } : {};
    const rows = [row(1, ["192.0.2.1", cell])];
    expect(counted(rows, ["ioc", "other"], "ioc", options)).toEqual(counts);
  });

  it.each([
    ["192.0.2.1 (C2)", 0],
    ['192.0.2.1 - - "GET /?u=http://example.com/a HTTP/1.1" 200', 2],
    ["192.0.2.1 GET /?to=192.0.2.1", 0],
    ["http://example.com/a b http-198.51.100.7", 0],
  ])("counts the items of the cell that is looked up, if it has others: %j", (text, inside) => {
    const counts = inside === 0 ? {} : { inside_cells: inside };
    expect(counted([row(1, [text])], ["ioc"], "ioc")).toEqual(counts);
  });

  it("counts no page that a citation names, but what else it holds", () => {
    const sources = ["https://reports.example.org/a", "198.51.100.7"];
    const rows = sources.map((source, n) => row(n + 1, ["192.0.2.1", source]));
    expect(counted(rows, ["ioc", "source"], "ioc")).toEqual({ elsewhere: { source: 1 } });
  });

  it("counts members of objects by path", () => {
    const json = JSON.stringify({ ip: "192.0.2.1", file: { hash: { sha1 }, names: [sha1, "x"] } });
    const found = counted([row(1, ["192.0.2.1", ""], json)], ["ip", "file"], "ip");
    expect(found).toEqual({ elsewhere: { "file.hash.sha1": 1, "file.names[]": 1 } });
  });

  it("counts no files of a column that holds names of files", () => {
    const notes = ["setup.exe", "invoice.zip", "example.com"];
    const rows = notes.map((note, index) => row(index + 1, ["192.0.2.1", note]));
    for (const [ofFiles, note] of [
      [[], 2],
      [["note"], 1],
    ] as const) {
      const found = counted(rows, ["ioc", "note"], "ioc", { ofFiles });
      expect(found).toEqual({ elsewhere: { note } });
    }
  });

  it("counts a row once for the elements of a list, and none that are looked up", () => {
    const json = JSON.stringify({
      ips: ["192.0.2.1", "192.0.2.2"],
      seen: [{ value: "example.com" }, { value: "example.net" }],
      last: { value: "example.org" },
    });
    const rows = [row(1, ["192.0.2.1", ""], json)];
    const [ips, seen, last] = [{ "ips[]": 1 }, { "seen[].value": 1 }, { "last.value": 1 }];
    for (const [chosen, elsewhere] of [
      ["ips", { ...ips, ...seen, ...last }],
      ["ips[]", { ...seen, ...last }],
      ["seen[].value", { ...ips, ...last }],
      ["last[].value[]", { ...ips, ...seen }],
    ] as const) {
      expect(counted(rows, ["ips", "seen", "last"], chosen)).toEqual({ elsewhere });
    }
  });

  it("estimates from the first 200 rows and every hundredth one after, however it is interrupted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(2000), (total, cut) => {
        const rows = Array.from({ length: total }, (_, n) => row(n + 1, ["192.0.2.1", sha1]));
        const whole = watching(["ioc", "sha1"], "ioc");
        noteAll(whole, rows);
        const before = watching(["ioc", "sha1"], "ioc");
        noteAll(before, rows.slice(0, cut));
        const after = watching(["ioc", "sha1"], "ioc", { before: before.snapshot() });
        noteAll(after, rows.slice(cut));
        expect(after.snapshot()).toEqual(whole.snapshot());
        const { sha1: found = 0 } = whole.snapshot().elsewhere ?? {};
        expect(Math.abs(found - total)).toBeLessThan(100);
      }),
    );
  });
});

describe("insideWarning", () => {
  const kinds = { ip: 2, domain: 1, url: 0, sha1: 0, crypto_wallet: 0, email: 0 };

  it.each([
    [3, null],
    [
      4,
      "4 items are inside cells or lines, and 3 rows looked up; " +
        "to find them: repute extract 'a b.txt' | repute enrich - -o OUT",
    ],
  ])("of %d items inside and 3 rows is %j", (inside, warning) => {
    expect(insideWarning({ path: "a b.txt" }, { inside_cells: inside, kinds })).toBe(warning);
  });
});

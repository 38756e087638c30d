import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import type { IsHeld } from "../../../src/io/formats/columns/rate-columns.js";
import { itemRow, type Row } from "../../../src/core/row.js";
import { Elsewhere } from "../../../src/jobs/enrich/elsewhere.js";
import { insideWarning } from "../../../src/jobs/enrich/warnings.js";

const sha1 = "a".repeat(40);
const holdsNone: IsHeld = () => false;

function watching(
  columns: readonly string[],
  chosen: string,
  isHeld = holdsNone,
  ofFiles: readonly string[] = [],
  before = {},
): Elsewhere {
  const elsewhere = new Elsewhere(before);
  const item = {
    name: chosen,
    index: Math.max(0, columns.indexOf(chosen)),
    by: "name",
    sample: null,
  } as const;
  const reading = {
    format: "csv",
    delimiter: ",",
    comment: null,
    spaced: false,
    header: "record",
    items: [item],
    kind: null,
    ofFiles,
  } as const;
  elsewhere.watch({ columns, reading }, isHeld);
  return elsewhere;
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
    const elsewhere = watching(["ioc", "other"], "ioc", cell.includes("corp") ? isHeld : holdsNone);
    noteAll(elsewhere, [row(1, ["192.0.2.1", cell])]);
    expect(elsewhere.snapshot()).toEqual(counts);
  });

  it.each([
    ["192.0.2.1 (C2)", 0],
    ['192.0.2.1 - - "GET /?u=http://example.com/a HTTP/1.1" 200', 2],
    ["192.0.2.1 GET /?to=192.0.2.1", 0],
    ["http://example.com/a b http-198.51.100.7", 0],
  ])("counts the items of the cell that is looked up, if it has others: %j", (text, inside) => {
    const elsewhere = watching(["ioc"], "ioc");
    noteAll(elsewhere, [row(1, [text])]);
    expect(elsewhere.snapshot()).toEqual(inside === 0 ? {} : { inside_cells: inside });
  });

  it("counts no page that a citation names, but what else it holds", () => {
    const elsewhere = watching(["ioc", "source"], "ioc");
    noteAll(elsewhere, [
      row(1, ["192.0.2.1", "https://reports.example.org/a"]),
      row(2, ["192.0.2.1", "198.51.100.7"]),
    ]);
    expect(elsewhere.snapshot()).toEqual({ elsewhere: { source: 1 } });
  });

  it("counts members of objects by path", () => {
    const elsewhere = watching(["ip", "file"], "ip");
    const json = JSON.stringify({ ip: "192.0.2.1", file: { hash: { sha1 }, names: [sha1, "x"] } });
    noteAll(elsewhere, [row(1, ["192.0.2.1", ""], json)]);
    expect(elsewhere.snapshot()).toEqual({
      elsewhere: { "file.hash.sha1": 1, "file.names[]": 1 },
    });
  });

  it("counts no files of a column that holds names of files", () => {
    const notes = ["setup.exe", "invoice.zip", "example.com"];
    const counts = (ofFiles: readonly string[]): object => {
      const elsewhere = watching(["ioc", "note"], "ioc", holdsNone, ofFiles);
      noteAll(
        elsewhere,
        notes.map((note, index) => row(index + 1, ["192.0.2.1", note])),
      );
      return elsewhere.snapshot();
    };
    expect(counts([])).toEqual({ elsewhere: { note: 2 } });
    expect(counts(["note"])).toEqual({ elsewhere: { note: 1 } });
  });

  it("counts a row once for the elements of a list, and none that are looked up", () => {
    const json = JSON.stringify({
      ips: ["192.0.2.1", "192.0.2.2"],
      seen: [{ value: "example.com" }, { value: "example.net" }],
      last: { value: "example.org" },
    });
    const counts = (chosen: string): object => {
      const elsewhere = watching(["ips", "seen", "last"], chosen);
      noteAll(elsewhere, [row(1, ["192.0.2.1", ""], json)]);
      return elsewhere.snapshot().elsewhere ?? {};
    };
    const last = { "last.value": 1 };
    expect(counts("ips")).toEqual({ "ips[]": 1, "seen[].value": 1, ...last });
    expect(counts("ips[]")).toEqual({ "seen[].value": 1, ...last });
    expect(counts("seen[].value")).toEqual({ "ips[]": 1, ...last });
    expect(counts("last[].value[]")).toEqual({ "ips[]": 1, "seen[].value": 1 });
  });

  it("estimates from the first 200 rows and every hundredth one after, however it is interrupted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(2000), (total, cut) => {
        const rows = Array.from({ length: total }, (_, n) => row(n + 1, ["192.0.2.1", sha1]));
        const whole = watching(["ioc", "sha1"], "ioc");
        noteAll(whole, rows);
        const before = watching(["ioc", "sha1"], "ioc");
        noteAll(before, rows.slice(0, cut));
        const after = watching(["ioc", "sha1"], "ioc", holdsNone, [], before.snapshot());
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

import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { SourceFormat, SourceOptions } from "../../../src/sources/types.js";
import {
  openSource,
  piped,
  plainRow,
  positionAfter,
  readSource,
} from "../../contract/sources-reading.js";
import { ManualClock } from "../../helpers/manual-clock.js";

/** Options as they are when no flag is given and the input's name says the format. */
const noFlags = { guessed: true, header: null, itemColumn: null } as const;

async function read(
  content: string,
  options: Partial<SourceOptions> = {},
  format: SourceFormat = "csv",
) {
  const { source, rows } = await readSource(format, piped(content), { ...noFlags, ...options });
  const { columns, reading } = source;
  return { columns, reading, items: rows.map((row) => row.itemText), rows };
}

async function errorOf(content: string, options: Partial<SourceOptions> = {}): Promise<unknown> {
  return read(content, options).then(
    () => null,
    (error: unknown) => error,
  );
}

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");
}

describe("a CSV input without flags", () => {
  it("tells its column and how much of the sample are indicators", async () => {
    const { reading, items } = await read("Type,Data,Note\nip,192.0.2.1,a\nx,words,b\n");
    expect(reading.item).toEqual({
      name: "Data",
      index: 1,
      by: "name",
      sample: { cells: 2, indicators: 1, share: 0.5 },
    });
    expect(items).toEqual(["192.0.2.1", "words"]);
  });

  it("samples the first 200 records and no more", async () => {
    const content = `data,peer\n${lines(200, () => "192.0.2.1,x")}${lines(900, () => "x,192.0.2.1")}`;
    const { reading, items } = await read(content);
    expect(reading.item.sample).toEqual({ cells: 200, indicators: 200, share: 1 });
    expect(items).toHaveLength(1100);
  });

  it("tells every share when two columns may hold the item", async () => {
    expect(await errorOf("src_ip,dst_ip,n\n192.0.2.1,192.0.2.2,1\n")).toMatchObject({
      name: "UsageError",
      code: "column_ambiguous",
      message: expect.stringMatching(/"src_ip" {2}100%.*\n {2}"dst_ip" {2}100%.*\n {2}"n" {2}0%/),
    });
  });

  it("tells every share when no column holds items", async () => {
    expect(await errorOf("name,n\nalpha,1\nbeta,2\n")).toMatchObject({
      code: "column_not_found",
      message: expect.stringMatching(/"name" {2}0% of 2 sampled cells\n {2}"n" {2}0%/),
    });
  });

  it("has no rows where there is a header only", async () => {
    const { columns, items } = await read("first_seen,dst_ip\n");
    expect([columns, items]).toEqual([["first_seen", "dst_ip"], []]);
  });

  it.each([
    ["semicolons", ";", "ip;score\n192.0.2.1;0,5\n192.0.2.2;0,7\n"],
    ["tabs", "\t", "ip\tnote\n192.0.2.1\ta, b\n192.0.2.2\tc\n"],
    ["commas", ",", 'ip,note\n192.0.2.1,"a;b;c"\n192.0.2.2,d;e\n'],
    ["commas, a semicolon in each record", ",", "192.0.2.1,a;b\n192.0.2.2,c;d\n"],
  ])("is separated by %s", async (_, delimiter, content) => {
    const { reading, items } = await read(content);
    expect([reading.delimiter, items]).toEqual([delimiter, ["192.0.2.1", "192.0.2.2"]]);
  });

  it("keeps to commas and semicolons where a flag says csv", async () => {
    const semicolons = await read("ip;n\n192.0.2.1;1\n", { guessed: false });
    expect(semicolons.items).toEqual(["192.0.2.1"]);
    expect(await errorOf("ip\tn\n192.0.2.1\t1\n", { guessed: false })).toMatchObject({
      hint: expect.stringContaining("--from tsv") as string,
    });
  });

  it("takes a first record with an item for a row", async () => {
    const { columns, reading, items } = await read("192.0.2.1,7\n192.0.2.2,8\n");
    expect(columns).toEqual(["column_1", "column_2"]);
    expect(reading.header).toBe("none");
    expect(items).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  it("takes a single record with an item for a row", async () => {
    expect((await read("scan,192.0.2.1\n")).items).toEqual(["192.0.2.1"]);
  });

  it("takes field names that read as domains for a header", async () => {
    const { columns, items } = await read("source.ip,host.name\n192.0.2.1,x\n192.0.2.2,y\n");
    expect([columns, items]).toEqual([
      ["source.ip", "host.name"],
      ["192.0.2.1", "192.0.2.2"],
    ]);
    expect((await read("host.name\nexample.com\n")).items).toEqual(["example.com"]);
  });

  it("has its header in the comment before the first record", async () => {
    const content =
      '# feed\n#\n# "seen","ioc_value","tags"\n"2026", "192.0.2.1", "a, b"\n"2026", "192.0.2.2", ""\n# 2 entries\n';
    const { columns, reading, rows } = await read(content);
    expect(columns).toEqual(["seen", "ioc_value", "tags"]);
    expect(reading).toMatchObject({ header: "comment", comment: "#", spaced: true });
    expect(rows.map(({ line, cells }) => [line, cells].flat())).toEqual([
      [4, "2026", "192.0.2.1", "a, b"],
      [5, "2026", "192.0.2.2", ""],
    ]);
  });

  it("does not take any comment for a header", async () => {
    const { columns } = await read("# made by hand, daily\n#\n192.0.2.1,7\n192.0.2.2,8\n");
    expect(columns).toEqual(["column_1", "column_2"]);
  });

  it.each(["#,ip", "#id,ip"])("keeps a first line %j as its header", async (header) => {
    const { columns, rows } = await read(`${header}\n1,192.0.2.1\n#2,192.0.2.2\n`);
    expect(columns).toEqual(header.split(","));
    expect(rows.map((row) => row.cells)).toEqual([
      ["1", "192.0.2.1"],
      ["#2", "192.0.2.2"],
    ]);
  });

  it("skips no comments where a flag says csv", async () => {
    const { rows } = await read("note,ip\n#1,192.0.2.1\n", { guessed: false });
    expect(rows[0]?.cells).toEqual(["#1", "192.0.2.1"]);
  });

  it("calls a column without a name by its place", async () => {
    const { reading } = await read("note,\na,192.0.2.1\n");
    expect(reading.item).toMatchObject({ name: "", index: 1 });
    expect((await read("note,\na,192.0.2.1\n", { itemColumn: "column_2" })).items).toEqual([
      "192.0.2.1",
    ]);
  });
});

describe("flags", () => {
  it.each([
    ["--item-column", { itemColumn: "note" }, ["example.net", "x"]],
    ["--no-header", { header: false }, ["data", "192.0.2.1", "192.0.2.2"]],
    ["--comment", { comment: "192.0.2.1" }, ["192.0.2.2"]],
  ])("win over what the records say: %s", async (_, options, items) => {
    const content = "data,note\n192.0.2.1,example.net\n192.0.2.2,x\n";
    expect((await read(content, options)).items).toEqual(items);
  });

  it("name the header where the first record has the column that they name", async () => {
    expect((await read("a,example.com\n192.0.2.1,x\n", { itemColumn: "a" })).items).toEqual([
      "192.0.2.1",
    ]);
  });

  it("name a column by its place where there is no header", async () => {
    expect((await read("x,192.0.2.1\ny,192.0.2.2\n", { itemColumn: "column_2" })).items).toEqual([
      "192.0.2.1",
      "192.0.2.2",
    ]);
  });
});

describe("a column of kind names", () => {
  it.each([null, "data"])("beside the item serves, with --item-column %s", async (itemColumn) => {
    const content = "indicator_type,data\nDomain,setup.sh\nsha256,x\nurl,example.com\n";
    const { reading, rows } = await read(content, { itemColumn });
    expect(reading.kind).toEqual({ name: "indicator_type", index: 0, by: "neighbour" });
    expect(rows.map((row) => row.kindText)).toEqual(["Domain", "", "url"]);
  });

  it("that is named wins", async () => {
    const content = "type,data,label\nip,192.0.2.1,url\n";
    const { rows } = await read(content, { kindColumn: "label" });
    expect(rows[0]?.kindText).toBe("url");
  });
});

describe("an NDJSON input without flags", () => {
  const ndjson = (objects: readonly unknown[]) =>
    read(
      lines(objects.length, (n) => JSON.stringify(objects[n])),
      {},
      "ndjson",
    );

  it("may have the item in a nested member", async () => {
    const { reading, items } = await ndjson([
      { id: 1, source: { ip: "192.0.2.1", port: 22 } },
      { id: 2, source: { ip: ["192.0.2.2"] } },
    ]);
    expect(reading.item).toMatchObject({
      name: "source.ip",
      by: "share",
      sample: { cells: 2, indicators: 2 },
    });
    expect(items).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  it("has a member beside it that names the kind", async () => {
    const objects = [{ ioc: { type: "url", value: "example.com" } }];
    const { rows, reading } = await ndjson(objects);
    expect([reading.item.name, reading.kind?.name, rows[0]?.kindText]).toEqual([
      "ioc.value",
      "ioc.type",
      "url",
    ]);
  });

  it("finds a member that the first records lack", async () => {
    const { items } = await ndjson([{ note: "start" }, { peer: "192.0.2.1" }]);
    expect(items).toEqual(["", "192.0.2.1"]);
  });

  it("tells the share of every path when two may hold the item", async () => {
    const reading = ndjson([{ src: { ip: "192.0.2.1" }, dst: { ip: "192.0.2.2" } }]);
    await expect(reading).rejects.toMatchObject({
      code: "column_ambiguous",
      message: expect.stringMatching(/"src.ip" {2}100%.*\n {2}"dst.ip" {2}100%/),
    });
  });

  it.each([[["a.example", "b.example"]], [{ a: 1 }], [3221225985], [true], [[]]])(
    "marks an item that is not text: %j",
    async (value) => {
      const { rows } = await read(
        `${JSON.stringify({ item: value })}\n`,
        { itemColumn: "item" },
        "ndjson",
      );
      expect([rows[0]?.itemText, rows[0]?.itemNotText]).toEqual(["", true]);
    },
  );
});

describe("a run that goes on", () => {
  const content = `# feed\n# "id","peer","kind"\n${lines(300, (n) => `"${n}", "192.0.2.${n % 250}", "ip"`)}`;

  it("reads as was settled, whatever a new sample would say", async () => {
    const { source, rows } = await readSource("csv", piped(content), noFlags);
    const resume = positionAfter(rows[9]!, source);
    const later = content.replace(/"192\.0\.2\.\d+"/g, (cell) => cell.replace("192", "xyz"));
    const rest = await readSource("csv", piped(later), { ...noFlags, resume });
    expect(rest.source.reading).toEqual(source.reading);
    expect(rest.rows.slice(0, 2).map((row) => row.itemText)).toEqual(["xyz.0.2.10", "xyz.0.2.11"]);
  });

  it("has the rows of one that was never interrupted", async () => {
    const { source, rows } = await readSource("csv", piped(content), noFlags);
    const resume = positionAfter(rows[41]!, source);
    const rest = await readSource("csv", piped(content), { ...noFlags, resume });
    expect(rest.rows.map(plainRow)).toEqual(rows.slice(42).map(plainRow));
  });

  it.each([
    ["record", "note,peer\nx,192.0.2.1\n"],
    ["comment", "# note,peer\nx,192.0.2.1\n"],
    ["none", "x,192.0.2.1\n"],
  ])("before its first row knows its header all the same: %s", async (header, text) => {
    const { source, rows } = await readSource("csv", piped(text), noFlags);
    const { columns, reading } = source;
    const resume = { offset: 0, row: 0, line: 0, columns, reading };
    const again = await readSource("csv", piped(text), { ...noFlags, resume });
    expect(reading.header).toBe(header);
    expect(again.rows.map(plainRow)).toEqual(rows.map(plainRow));
  });
});

describe("a live stream", () => {
  function live(text: string) {
    const stream = new Readable({ read: () => undefined });
    stream.push(text);
    return stream;
  }

  it.each([
    ["csv", "time,peer\n1,192.0.2.1\n2,192.0.2.2\n", "3,192.0.2.3\n"],
    ["ndjson", '{"peer":"192.0.2.1"}\n{"peer":"192.0.2.2"}\n', '{"peer":"192.0.2.3"}\n'],
  ] as const)(
    "of %s is read on once a pause leaves a clear choice",
    async (format, first, more) => {
      const clock = new ManualClock();
      const stream = live(first);
      const opening = openSource(format, { stream, name: "stdin" }, { ...noFlags, clock });
      const source = await clock.run(opening);
      expect(source.reading.item.name).toBe("peer");
      stream.push(more);
      stream.push(null);
      const items: string[] = [];
      for await (const rows of source.rows) items.push(...rows.map((row) => row.itemText));
      expect(items).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    },
  );

  it("is waited for while its records leave the choice open", async () => {
    const clock = new ManualClock();
    const stream = live("a,b\n192.0.2.1,192.0.2.2\n");
    const opening = openSource("csv", { stream, name: "stdin" }, { ...noFlags, clock });
    // Two pauses: that of the first lines and that of the records.
    while (clock.asked.length < 2) await clock.advance(1000);
    await clock.advance(10_000);
    stream.push("192.0.2.3,x\n192.0.2.4,y\n192.0.2.5,z\n");
    stream.push(null);
    const source = await clock.run(opening);
    await source.close();
    expect(source.reading.item).toMatchObject({ name: "a", sample: { share: 1 } });
  });
});

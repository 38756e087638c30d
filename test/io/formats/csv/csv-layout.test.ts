import { describe, expect, it } from "vitest";
import type { SourceOptions } from "../../../../src/io/input/types.js";
import { piped, readSource, positionIn } from "../../input/sources/sources-reading.js";

/** Options without any flag, for an input whose name tells the format. */
const noFlags = { from: undefined, header: undefined, itemColumn: undefined } as const;

async function read(content: string, options: Partial<SourceOptions> = {}) {
  const { source, rows } = await readSource("csv", piped(content), { ...noFlags, ...options });
  const { columns, reading } = source;
  return { columns, reading, items: rows.map((row) => row.itemText), rows };
}

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");
}

const hash = (n: number): string => n.toString(16).padStart(64, "0");
const sha1 = "a".repeat(40);
const page = "https://reports.example.org/a";

describe("a CSV input without flags", () => {
  it("samples only the first 200 records", async () => {
    const content = `data,peer\n${lines(200, () => "192.0.2.1,x")}${lines(900, () => "x,192.0.2.1")}`;
    const { reading, items } = await read(content);
    expect(reading.items[0].sample).toMatchObject({ cells: 200, indicators: 200, share: 1 });
    expect(items).toHaveLength(1100);
  });

  it.each([
    ["csv", "sha256,c2", (n: number, c2: string) => `${hash(n)},${c2}`],
    ["ndjson", "", (n: number, c2: string) => JSON.stringify({ file: { sha256: hash(n) }, c2 })],
  ] as const)("samples %s on while no column can be looked up", async (format, header, line) => {
    const content = lines(3000, (n) => line(n, n === 2500 ? "login.example.com" : "N/A"));
    const input = piped(header === "" ? content : `${header}\n${content}`);
    const { source } = await readSource(format, input, noFlags);
    expect(source.reading.items[0]).toMatchObject({ name: "c2", sample: { cells: 1 } });
  });

  it("names other columns with items", async () => {
    const content = `ioc,SHA1,link\n${lines(300, (n) => `192.0.2.1,${n < 61 ? sha1 : ""},${page}`)}`;
    const { reading } = await read(content);
    expect(reading.others).toEqual({
      sampled: 200,
      columns: [{ name: "SHA1", index: 1, rows: 61 }],
    });
  });

  it("only tries commas and semicolons with --from csv", async () => {
    const semicolons = await read("ip;n\n192.0.2.1;1\n", { from: "csv" });
    expect(semicolons.items).toEqual(["192.0.2.1"]);
    await expect(read("ip\tn\n192.0.2.1\t1\n", { from: "csv" })).rejects.toMatchObject({
      code: "column_not_found",
    });
  });

  it("takes its header from the comment before the first record", async () => {
    const content =
      '# feed\n#\n# "seen","ioc_value","tags"\n"2026", "192.0.2.1", "a, b"\n"2026", "192.0.2.2", ""\n# 2 entries\n';
    const { columns, reading, rows } = await read(content);
    expect(columns).toEqual(["seen", "ioc_value", "tags"]);
    expect(reading).toMatchObject({ header: "comment", comment: "#", spaced: true });
    expect(rows.map((row) => row.cells)).toEqual([
      ["2026", "192.0.2.1", "a, b"],
      ["2026", "192.0.2.2", ""],
    ]);
  });

  it.each(["#,ip", "#id,ip"])("keeps a first line %j as its header", async (header) => {
    const { columns, rows } = await read(`${header}\n1,192.0.2.1\n#2,192.0.2.2\n`);
    expect(columns).toEqual(header.split(","));
    expect(rows.map((row) => row.cells)).toEqual([
      ["1", "192.0.2.1"],
      ["#2", "192.0.2.2"],
    ]);
  });

  it("names an unnamed column by position", async () => {
    const { reading } = await read("note,\na,192.0.2.1\n");
    expect(reading.items[0]).toMatchObject({ name: "", index: 1 });
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

  it("make the first record a header if they name one of its columns", async () => {
    expect((await read("a,example.com\n192.0.2.1,x\n", { itemColumn: "a" })).items).toEqual([
      "192.0.2.1",
    ]);
  });
});

it.each([undefined, "data"])(
  "a column of kind names next to the item is used, with --item-column %s",
  async (itemColumn) => {
    const content = "indicator_type,data\nDomain,setup.sh\nsha256,x\nurl,example.com\n";
    const { reading, rows } = await read(content, { itemColumn });
    expect(reading.kind).toEqual({ name: "indicator_type", index: 0, by: "neighbour" });
    expect(rows.map((row) => row.kindText)).toEqual(["Domain", "", "url"]);
  },
);

describe("a resumed run", () => {
  const content = `# feed\n# "id","peer","kind"\n${lines(300, (n) => `"${n}", "192.0.2.${n % 250}", "ip"`)}`;

  it("keeps its layout, whatever a new sample would show", async () => {
    const { source } = await readSource("csv", piped(content), noFlags);
    const later = content.replace(/"192\.0\.2\.\d+"/g, (cell) => cell.replace("192", "xyz"));
    const rest = await readSource("csv", piped(later), {
      ...noFlags,
      startAt: positionIn(source),
    });
    expect(rest.source.reading).toEqual(source.reading);
    expect(rest.rows.slice(10, 12).map((row) => row.itemText)).toEqual([
      "xyz.0.2.10",
      "xyz.0.2.11",
    ]);
  });
});

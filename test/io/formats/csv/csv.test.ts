import { rowWarnings } from "../../../../src/core/row.js";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../../../src/core/bytes.js";
import type { SourceOptions } from "../../../../src/io/input/types.js";
import { limitRecords, piped, readSource } from "../../input/sources/sources-reading.js";

async function cellsOf(
  content: string | Buffer,
  options: Partial<SourceOptions> = {},
): Promise<(readonly string[])[]> {
  const { rows } = await readSource("csv", piped(content), options);
  return rows.map((row) => row.cells);
}

it.each([
  ["surrounding spaces", " Item ,note \n", [" Item ", "note "]],
  ["empty and repeated names", "item,,note,note,\n", ["item", "", "note", "note", ""]],
  ["no byte order mark, but the quotes after it", '\ufeff"item","no""te"\n', ["item", 'no"te']],
  ["no names in an empty input", "", []],
])("csv header has %s, and no row", async (_, content, columns) => {
  const { source, rows } = await readSource("csv", piped(content), { comment: "#" });
  expect([source.columns, rows]).toEqual([columns, []]);
});

describe("csv cells", () => {
  it.each([
    ["keep a stray quote", '5" disk', '5" disk'],
    ["keep text after a closing quote", '"a" b', '"a" b'],
    ["keep surrounding spaces", " a ", " a "],
    ["keep a CR that doesn't end a line", "a\rb", "a\rb"],
  ])("%s", async (_, written, cell) => {
    expect(await cellsOf(`item,note\n 192.0.2.1 ,${written}\n`)).toEqual([[" 192.0.2.1 ", cell]]);
  });

  it("preserve invalid UTF-8", async () => {
    const content = Buffer.from("item,note\n192.0.2.1,\xdcbel \xff\n", "latin1");
    const [cells] = await cellsOf(content);
    expect(encodeText(cells![1]!)).toEqual(Buffer.from("\xdcbel \xff", "latin1"));
  });
});

it.each([
  ["go to extra as a JSON array", '192.0.2.1,a,b,"c ""d"""', '["b","c \\"d\\""]'],
  ["leave out empty ones", "192.0.2.1,a,,b,,c,", '["b","c"]'],
  ["are dropped if all are empty", "192.0.2.1,a,,,", null],
])("csv surplus cells %s, and are counted as a warning", async (_, record, extra) => {
  const { rows } = await readSource("csv", piped(`item,note\n${record}\n`));
  expect(rows[0]?.extra).toBe(extra);
  const message = "row with more cells than there are columns";
  expect(rowWarnings(rows[0]!, null)).toEqual(extra === null ? [] : [message]);
});

describe("csv lines", () => {
  it.each([
    ["end with CR", "item\ra\rb\r", ["a", "b"]],
    ["with only an empty quoted cell are rows", 'item\n""\n', [""]],
    ["that start with # are rows without a comment marker", "item\n#a\n", ["#a"]],
  ])("%s", async (_, content, cells) => {
    expect(await cellsOf(content)).toEqual(cells.map((cell) => [cell]));
  });

  it("may start with a comment marker of several characters, across chunks", async () => {
    const input = piped("item\n//x\n/y\n", 1);
    const { rows } = await readSource("csv", input, { comment: "//" });
    expect(rows.map((row) => row.itemText)).toEqual(["/y"]);
  });

  it("end with CR in a classic Mac OS file, whose cells stay as they are", async () => {
    const cells = [
      ["a", "1\r2"],
      ["b", "c"],
    ];
    expect(await cellsOf('item,note\r\ra,"1\r2"\rb,c\r')).toEqual(cells);
  });

  it("may be blank for longer than a record", async () => {
    const blank = limitRecords();
    const { rows } = await readSource("csv", piped(`item\na\n${"\n".repeat(blank)}b\n`));
    expect(rows.map((row) => row.itemText)).toEqual(["a", "b"]);
  });
});

it("csv without header names columns by number, as many as the first row has cells", async () => {
  const options = { header: false, itemColumn: "column_1" };
  const { source } = await readSource("csv", piped("a,b\nc,d,e\n"), options);
  expect(source.columns).toEqual(["column_1", "column_2"]);
});

describe("csv item and kind column", () => {
  it("are the first of several with the same name, with a warning", async () => {
    const { rows, source } = await readSource("csv", piped("item,item\na,b\n"));
    expect(rows[0]?.itemText).toBe("a");
    expect(source.warnings).toHaveLength(1);
  });

  it.each(["itemColumn", "kindColumn"] as const)(
    "give an error with a suggestion if %s is misspelt",
    async (option) => {
      await expect(cellsOf("item,Data\na,b\n", { [option]: "Dta" })).rejects.toMatchObject({
        code: "column_not_found",
        hint: 'Did you mean "Data"?',
      });
    },
  );
});

describe("csv quote that is never closed", () => {
  it.each([
    ["the header", 'item,"note\na,b\n', 1],
    ["a row", 'item,note\na,b\nc,"d\ne,f\ng,h\n', 3],
    ["a later line of a record", 'item,note\na,b\n"c\nd","e\n', 4],
    ["a row behind blank and comment lines", 'item\n\n# "x\n\n"a\n', 5],
    ["a cell behind quotes that are text", 'item,note\na 5" disk,"b\n', 2],
    ["a cell behind a doubled quote", 'item,note\n"a""b\n","c\n', 3],
    ["a row behind a record of several lines", 'item,note\n\na,"1\r\n2\n3"\n# x\ry\nb,"c\n', 7],
    ["a classic Mac OS file", 'item,note\r\ra,"1\r2"\rb,"c\r', 5],
    ["a row behind many blank lines", `item\na\n${"\n".repeat(50_000)}b\n"c\n`, 50_004],
    ["a cell behind a quote that closes too early", 'item,note\n"a"b,"c\n', 2],
  ])("is told with its line: in %s", async (_, content, line) => {
    await expect(cellsOf(content, { comment: "#" })).rejects.toMatchObject({
      name: "FatalError",
      code: "input_quote",
      message: `line ${line} of stdin: the quote opened here is never closed`,
    });
  });
});

import { rowWarnings, type Row } from "../../../../src/core/row.js";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../../../src/core/bytes.js";
import type { SourceOptions } from "../../../../src/io/input/types.js";
import {
  limitRecords,
  openSource,
  piped,
  readingOf,
  readSource,
} from "../../input/sources/sources-reading.js";

async function rowsOf(
  content: string | Buffer,
  options: Partial<SourceOptions> = {},
): Promise<readonly Row[]> {
  return (await readSource("ndjson", piped(content), options)).rows;
}

async function errorOf(content: string, options: Partial<SourceOptions> = {}): Promise<unknown> {
  return readSource("ndjson", piped(content), options).then(
    () => null,
    (error: unknown) => error,
  );
}

describe("ndjson columns", () => {
  it.each([
    [
      "the members of the first object, in its order",
      '{"item":"a","2":1,"1":2}\n{"x":1}\n',
      ["item", "2", "1"],
      2,
    ],
    [
      "from the first object, after lines that aren't objects",
      'oops\n[1]\n{"item":"a"}\n',
      ["item"],
      3,
    ],
    ["empty in an empty input", "\n", [], 0],
    ["empty if no line is an object, and each line is a row", "oops\n1\n", [], 2],
  ])("are %s", async (_, content, columns, count) => {
    const { source, rows } = await readSource("ndjson", piped(content));
    expect([source.columns, rows.length]).toEqual([columns, count]);
    expect(rows.every(({ cells }) => cells.length === columns.length)).toBe(true);
  });

  it("are an error if ten thousand lines contain no object", async () => {
    expect(await errorOf("oops\n".repeat(10_001))).toMatchObject({
      code: "input_not_ndjson",
    });
  });
});

describe("ndjson cells", () => {
  it("contain strings unquoted and other values as written", async () => {
    const [row] = await rowsOf(
      '{"item":"\\u00fc","a":null,"b":true,"c":12345678901234567890,"d":1.0,"e":1e400,"f":[1, 2],"g":{"h": 1}}',
    );
    expect(row?.cells).toEqual([
      "ü",
      "",
      "true",
      "12345678901234567890",
      "1.0",
      "1e400",
      "[1, 2]",
      '{"h": 1}',
    ]);
  });

  it("are empty for missing members", async () => {
    const rows = await rowsOf('{"item":"a","note":"b"}\n{"note":"c"}\n');
    expect(rows[1]?.cells).toEqual(["", "c"]);
  });

  it("leave other members to extra, as written", async () => {
    const rows = await rowsOf('{"item":"a"}\n{"x":1.0,"item":"b","y":{"z": null}}\n');
    expect(rows.map((row) => row.extra)).toEqual([null, '{"x":1.0,"y":{"z": null}}']);
  });
});

describe("ndjson rows", () => {
  it("keep the object as written, without surrounding space", async () => {
    const [row] = await rowsOf(' {"item": "a", "n": 1.0} \r\n');
    expect(row?.json).toBe('{"item": "a", "n": 1.0}');
  });

  it("preserve invalid UTF-8", async () => {
    const line = Buffer.from('{"item":"\xdc\xff"}', "latin1");
    const [row] = await rowsOf(line);
    expect(encodeText(row?.json ?? "")).toEqual(line);
  });

  it("count lines with invalid UTF-8 as a warning", async () => {
    const content = Buffer.from('{"item":"\xdc"}\n{"item":"a"}\n', "latin1");
    const { rows } = await readSource("ndjson", piped(content));
    const message =
      "row with invalid UTF-8: CSV and TSV keep its bytes, other outputs have U+FFFD instead; if it is Windows-1252, use --encoding windows-1252";
    expect(rows.map((row) => rowWarnings(row, null))).toEqual([[message], []]);
  });
});

describe("ndjson line that isn't an object", () => {
  it.each([
    ["broken JSON", '{"item":'],
    ["an array", '["a"]'],
    ["null", "null"],
  ])("is a row with a fault: %s", async (_, line) => {
    const rows = await rowsOf(`{"item":"a"}\n${line}\n`);
    expect(rows[1]?.fault).toEqual({
      code: "input_row",
      message: expect.stringMatching(/^line 2 is not a JSON object: ./) as string,
    });
  });

  it("is kept as text in extra, with empty cells", async () => {
    const rows = await rowsOf('{"item":"a","note":"b"}\n {"item": \n');
    expect([rows[1]?.cells, rows[1]?.extra, rows[1]?.json, rows[1]?.itemText]).toEqual([
      ["", ""],
      '" {\\"item\\": "',
      null,
      "",
    ]);
  });
});

describe("ndjson item", () => {
  it("is found by a path that is missing in the first records", async () => {
    const content = `${'{"note":1}\n'.repeat(99)}{"src":{"ip":"192.0.2.1"}}\n`;
    const rows = await rowsOf(content, { itemColumn: "src.ip" });
    expect(rows.at(-1)?.itemText).toBe("192.0.2.1");
  });

  it("gives an error that lists the columns if a hundred records lack it", async () => {
    const content = `${'{"note":1}\n'.repeat(100)}{"src":{"ip":"192.0.2.1"}}\n`;
    expect(await errorOf(content, { itemColumn: "src.ip" })).toMatchObject({
      code: "column_not_found",
      message: expect.stringContaining('"note"') as string,
    });
  });

  it("is found by the same name in a resumed run", async () => {
    const resume = {
      offset: 13,
      row: 1,
      line: 1,
      columns: ["IP"],
      reading: readingOf("ndjson", "IP"),
    };
    const rows = await rowsOf('{"IP":"a"}  \n{"IP":"b"}\n', { startAt: resume, itemColumn: "ip" });
    expect(rows.map((row) => [row.number, row.itemText])).toEqual([[2, "b"]]);
  });
});

it.each([
  ["ended", "\n"],
  ["not ended", ""],
])("ndjson line over 16 MiB stops the run after the rows before it: %s", async (_, end) => {
  const long = "x".repeat(limitRecords());
  const source = await openSource("ndjson", piped(`{"item":"a"}\n\n${long}${end}`));
  const items: string[] = [];
  const reading = (async () => {
    for await (const batch of source.rows) items.push(...batch.map((row) => row.itemText));
  })();
  await expect(reading).rejects.toMatchObject({
    name: "FatalError",
    code: "input_record_too_long",
    message: "line 3 of stdin is longer than the limit of 16 MiB",
  });
  expect(items).toEqual(["a"]);
});

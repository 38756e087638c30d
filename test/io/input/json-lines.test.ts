import { describe, expect, it } from "vitest";
import { jsonLines } from "../../../src/io/input/json-lines.js";
import { startsDocument } from "../../../src/io/input/decode.js";
import { limitRecords } from "./sources/sources-reading.js";

async function converted(
  json: string,
  pieceBytes = json.length,
  warnings: string[] = [],
): Promise<string> {
  const bytes = Buffer.from(json);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  const chunks: Buffer[] = [];
  for await (const chunk of jsonLines(pieces(), "in.json", warnings)) chunks.push(chunk);
  expect(Math.max(0, ...chunks.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  return Buffer.concat(chunks).toString("utf8");
}

const document = String.raw`{
  "status": "ok", "list": [1, "x]"],
  "data": [
    {"id": 12345678901234567890, "n": 1.10,
     "t": "a \"}],\\", "u": {"x": [true, null]}}, {"id": 2},

    {"id": 3, "ü": "😀"}
  ], "more": {"data": []}
}`;

describe("jsonLines", () => {
  it.each([1, 2, 7, 1000])("keeps text and line of each row, in pieces of %i", async (size) => {
    const lines = (await converted(document, size)).split("\n");
    expect(lines[3]).toBe(
      String.raw`{"id": 12345678901234567890, "n": 1.10, "t": "a \"}],\\", "u": {"x": [true, null]}}`,
    );
    const others = ['{"id": 2}', '{"id": 3, "ü": "😀"}'];
    expect(lines.filter((line) => line !== "").slice(1)).toEqual(others);
    expect(lines[6]).toBe(others[1]);
  });

  it.each([
    [
      '{"ip":"192.0.2.1","hosts":[{"name":"a.example.com"}]}',
      /: 1 items? beside .*, such as 192[.]0[.]2[.]1;/,
    ],
    [
      '{"data":[{"a":1}],"ips":["192.0.2.1","192.0.2.2"]}',
      /: 2 items? beside .*, such as 192[.]0[.]2[.]1;/,
    ],
    [
      '{"c":{"to":{"c2.example.com":"x"}},"data":[{"a":1}]}',
      /: 1 items? beside .*, such as c2[.]example[.]com;/,
    ],
    [
      String.raw`{"n":"see b\u00fccher","c2":"b\u00fccher.example.com","d":"bücher.example.com","data":[{"a":1}]}`,
      /: 2 items? beside .*, such as xn--bcher-kva[.]example[.]com;/,
    ],
    [
      String.raw`{"c2":"192.0.2.1, 192.0.2.2\n192.0.2.3","x":"a b","data":[{"a":1}]}`,
      /: 3 items? beside .*, such as 192[.]0[.]2[.]1;/,
    ],
    ['{"next":"https://example.com/?page=2","data":[{"ip":"192.0.2.1"}],"tags":["a"]}', null],
  ])("names the items of %s that are in no row", async (json, expected) => {
    const warnings: string[] = [];
    await converted(json, 3, warnings);
    expect(warnings).toHaveLength(expected === null ? 0 : 1);
    expect(warnings.join()).toMatch(expected ?? /^$/);
  });

  it.each(['{"meta":{"type":1},"bundle":[{"a":1}]}', '{"x":["type"],"bundle":[{"a":1}]}'])(
    "takes no nested type for that of a bundle: %s",
    async (json) => {
      expect((await converted(json)).trim()).toBe('{"a":1}');
    },
  );

  it("gives each text of a list a row", async () => {
    expect(await converted('["192.0.2.1", "a\\"b",null]')).toBe(
      '{"item":"192.0.2.1"}\n{"item":"a\\"b"}\nnull\n',
    );
  });

  it("keeps the rows after one that has many lines", async () => {
    const lines = await converted(`[{"a":"b"${"\n".repeat(200_000)}},{"a":"c"},\n["d"]]`, 1000);
    expect(lines.split(/\n+/)).toEqual(['{"a":"b" }', '{"a":"c"}', '["d"]', ""]);
    expect(lines.split("\n")[200_001]).toBe('["d"]');
  });

  it.each([
    ['[{"a":1 2}]', '{"a":1 2}\n'],
    ['[{"a":NaN},{"a":2}]', '{"a":NaN}\n{"a":2}\n'],
    ['[{"a":"b\tc"},"\0"]', '{"a":"b\tc"}\n{"item":"\0"}\n'],
    [String.raw`[{"a":"C:\Users"},{'a':2}]`, `{"a":"C:\\Users"}\n{'a':2}\n`],
    ["[]", ""],
    ['{"data":[]}', ""],
  ])("converts %s without mending it", async (json, lines) => {
    expect(await converted(json)).toBe(lines);
  });

  it.each([
    ['[{"a":1}\n {"a":2}]', "json", "line 2, column 2 of in.json: a comma is missing"],
    ['[{"a":1},]', "json", "line 1, column 10 of in.json: a value is missing"],
    ['[{"a":[1}]', "json", "line 1, column 9 of in.json: } stands where ] belongs"],
    ['[{"a":"b\n"}]', "json", "line 1, column 9 of in.json: a text is not closed on its line"],
    ['[\n{"a":1', "json", "it ends inside the value that begins on line 2, column 1"],
    ['[{"a":1}] x', "json", "line 1, column 11 of in.json: the document has ended here"],
    ['{"a":[{}],"b":[{}]}', "json_rows", 'several lists of objects ("a" and "b")'],
    ['{"type":"bundle","objects":[{}]}', "json_rows", "a STIX bundle"],
    ['{"a":1}', "json_rows", "without a list of objects"],
    ["[[1]]", "json_rows", "a list of lists"],
    ['{\n"a":1}\n{\n"a":2}', "json_rows", "several JSON documents"],
  ])("refuses %j, and names the place of a fault", async (json, code, message) => {
    await expect(converted(json)).rejects.toMatchObject({
      code: `input_${code}`,
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([
    ["line ends", "\n", "line 262139, column 1"],
    ["a text", '"', "line 1, column "],
  ])("refuses a row longer than allowed: %s", async (_, start, place) => {
    const json = `[{"a":1${start.padEnd(limitRecords(), start === "\n" ? start : "x")}`;
    await expect(converted(json)).rejects.toMatchObject({
      code: "input_json",
      message: expect.stringMatching(
        new RegExp(`^${place}.* begins on line 1, column 2 is longer than the limit of 16 MiB`),
      ) as string,
      hint: expect.stringContaining("a bracket that closes it may be missing") as string,
    });
  });
});

it.each([
  ['[{"a":1}]', true, true],
  ["[\n", true, true],
  ['{\n"a"', true, true],
  ['{"a":1}\n{"a":2}\n', false, false],
  ['{"a":1}\n', false, false],
  ['{"a":1},\n{"a":2},\n', false, false],
  ['{"a":{"b":1},\n"c":2}', true, true],
  ['{"s":"ok","data":[{"a":1}]}', false, true],
  ["[2001:db8::1]:443\n", false, true],
  ["192.0.2.1\n", false, false],
])("startsDocument %j is one: %s; if it is named so: %s", (head, possibly, named) => {
  expect(startsDocument(Buffer.from(head), false)).toBe(possibly);
  expect(startsDocument(Buffer.from(head), true)).toBe(named);
});

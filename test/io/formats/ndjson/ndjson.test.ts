import type { Row } from "../../../../src/core/row.js";
import { describe, expect, it } from "vitest";
import { encodeText } from "../../../../src/core/bytes.js";
import type { JsonObject } from "../../../../src/core/finding.js";
import { valuesAt } from "../../../../src/io/formats/ndjson/ndjson.js";
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

describe("ndjson columns", () => {
  it.each([
    [
      "the members of the first object, in its order",
      '{"item":"a","2":1,"1":2}\n{"x":1}\n',
      ["item", "2", "1"],
      2,
    ],
    ["from the first object, after other lines", 'oops\n[1]\n{"item":"a"}\n', ["item"], 3],
    ["empty in an empty input", "\n", [], 0],
    ["empty if no line is an object, and each line is a row", "oops\n1\n", [], 2],
  ])("are %s", async (_, content, columns, count) => {
    const { source, rows } = await readSource("ndjson", piped(content));
    expect([source.columns, rows.length]).toEqual([columns, count]);
    expect(rows.every(({ cells }) => cells.length === columns.length)).toBe(true);
  });

  it("are an error if ten thousand lines contain no object", async () => {
    await expect(rowsOf("oops\n".repeat(10_001))).rejects.toMatchObject({
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

  it("are empty for missing members, and leave other members to extra, as written", async () => {
    const rows = await rowsOf('{"item":"a","note":"b"}\n{"x":1.0,"note":"c","y":{"z": null}}\n');
    expect(rows.map(({ cells, extra }) => [cells, extra])).toEqual([
      [["a", "b"], null],
      [["", "c"], '{"x":1.0,"y":{"z": null}}'],
    ]);
  });
});

it("ndjson rows keep the object without the comma of a list behind it", async () => {
  const rows = await rowsOf('{"item":"a"},\n{"item":"b"} , \n{"item":"c"}');
  expect(rows.map(({ json, fault }) => [json, fault?.code])).toEqual([
    ['{"item":"a"}', undefined],
    ['{"item":"b"}', undefined],
    ['{"item":"c"}', undefined],
  ]);
});

it("ndjson rows keep the object as written, without surrounding space, and invalid UTF-8", async () => {
  const [row] = await rowsOf(' {"item": "a", "n": 1.0} \r\n');
  expect(row?.json).toBe('{"item": "a", "n": 1.0}');
  const line = Buffer.from('{"item":"\xdc\xff"}', "latin1");
  expect(encodeText((await rowsOf(line))[0]?.json ?? "")).toEqual(line);
});

it.each([
  ["broken JSON", ' {"item": ', '" {\\"item\\": "'],
  ["an array", '["a"]', '"[\\"a\\"]"'],
  ["null", "null", '"null"'],
])(
  "ndjson line that isn't an object is a row with a fault, kept in extra: %s",
  async (...given) => {
    const [, line, extra] = given;
    const rows = await rowsOf(`{"item":"a","note":"b"}\n${line}\n`);
    expect(rows[1]).toMatchObject({
      cells: ["", ""],
      extra,
      json: null,
      itemText: "",
      fault: {
        code: "input_row",
        message: expect.stringMatching(/^line 2 is not a JSON object: ./) as string,
      },
    });
  },
);

describe("ndjson item", () => {
  it("is found by a path that is missing in the first records", async () => {
    const content = `${'{"note":1}\n'.repeat(99)}{"src":{"ip":"192.0.2.1"}}\n`;
    const rows = await rowsOf(content, { itemColumn: "src.ip" });
    expect(rows.at(-1)?.itemText).toBe("192.0.2.1");
  });

  it("gives an error that lists the columns if a hundred records lack it", async () => {
    const content = `${'{"note":1}\n'.repeat(100)}{"src":{"ip":"192.0.2.1"}}\n`;
    await expect(rowsOf(content, { itemColumn: "src.ip" })).rejects.toMatchObject({
      code: "column_not_found",
      message: expect.stringContaining('"note"') as string,
    });
  });

  it("is found by the same name in a resumed run", async () => {
    const resume = { row: 1, columns: ["IP"], reading: readingOf("ndjson", "IP") };
    const rows = await rowsOf('{"IP":"a"}  \n{"IP":"b"}\n', { startAt: resume, itemColumn: "ip" });
    expect(rows.map((row) => [row.number, row.itemText])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
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

it.each([
  ["ip", '{"ip":"192.0.2.1"}', "192.0.2.1"],
  ["src.ip", '{"src":{"ip":"192.0.2.1"}}', "192.0.2.1"],
  ["ips.1", '{"ips":["192.0.2.1","192.0.2.2"]}', "192.0.2.2"],
  ["a.b", '{"a":{"b":"path"},"a.b":"name"}', "name"],
  ["a.b", '{"a":{"b":null}}', null],
  ["ip.length", '{"ip":"192.0.2.1"}', undefined],
  ["constructor.name", "{}", undefined],
  ["__proto__.constructor.name", "{}", undefined],
  ["ip", '{"ips":["192.0.2.1"]}', undefined],
])("valuesAt finds at %s of %s: %s", (path, json, value) => {
  expect(valuesAt(path, JSON.parse(json) as JsonObject)[0]).toBe(value);
});

describe("an NDJSON input without flags", () => {
  const read = async (content: string, itemColumn?: string) => {
    const { source, rows } = await readSource("ndjson", piped(content), { itemColumn });
    return { reading: source.reading, items: rows.map((row) => row.itemText), rows };
  };
  const ndjson = (objects: readonly unknown[]) =>
    read(objects.map((object) => `${JSON.stringify(object)}\n`).join(""));

  it("may have the item in a nested member", async () => {
    const { reading, items } = await ndjson([
      { id: 1, source: { ip: "192.0.2.1", port: 22 } },
      { id: 2, source: { ip: ["192.0.2.2"] } },
    ]);
    expect(reading.items[0]).toMatchObject({
      name: "source.ip",
      by: "share",
      sample: { cells: 2, indicators: 2 },
    });
    expect(items).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  it("may have a kind member next to the item", async () => {
    const objects = [{ ioc: { type: "url", value: "example.com" } }];
    const { rows, reading } = await ndjson(objects);
    expect([reading.items[0].name, reading.kind?.name, rows[0]?.kindText]).toEqual([
      "ioc.value",
      "ioc.type",
      "url",
    ]);
  });

  it("finds a member that is missing in the first records", async () => {
    const { items } = await ndjson([{ note: "start" }, { peer: "192.0.2.1" }]);
    expect(items).toEqual(["", "192.0.2.1"]);
  });

  it.each<[string, object, { readonly name: string }]>([
    ["a list", { peer: "192.0.2.1", ips: ["192.0.2.2", "192.0.2.3"] }, { name: "ips[]" }],
    [
      "objects in a list",
      { peer: "192.0.2.1", seen: [{ type: "domain", value: "example.com" }, { value: "x" }] },
      { name: "seen[].value" },
    ],
    [
      "lists in objects",
      { peer: "192.0.2.1", dns: { answers: [{ rdata: "x" }, { rdata: "192.0.2.2" }] } },
      { name: "dns.answers[].rdata" },
    ],
  ])("names the path of items in %s, and does not take it", async (_, object, other) => {
    const { reading } = await ndjson([object]);
    expect(reading.items).toMatchObject([{ name: "peer" }]);
    expect(reading.others).toMatchObject({ sampled: 1, columns: [other] });
    const { items } = await read(JSON.stringify(object), other.name);
    expect(items.some((item) => /^(?:192\.0\.2\.|example)/.test(item))).toBe(true);
  });

  it.each([{ item: ["192.0.2.1", "192.0.2.2"] }, { data: { items: [{ ip: "192.0.2.1" }] } }])(
    "proposes the path that reads %j",
    async (object) => {
      await expect(ndjson([object])).rejects.toMatchObject({
        hint: expect.stringMatching(/--item-column '(?:item\[\]|data\.items\[\]\.ip)'/),
      });
    },
  );

  it("lists the share of each path if two qualify", async () => {
    const reading = ndjson([{ src: { ip: "192.0.2.1" }, dst: { ip: "192.0.2.2" } }]);
    await expect(reading).rejects.toMatchObject({
      code: "column_ambiguous",
      message: expect.stringMatching(/"src.ip" {2}100%.*\n {2}"dst.ip" {2}100%/),
    });
  });

  it.each([[["a.example", "b.example"]], [{ a: 1 }], [3221225985], [true], [[]], [[1]], [null]])(
    "marks an item that isn't text, unless it is null: %j",
    async (value) => {
      const { rows } = await read(JSON.stringify({ item: value }), "item");
      expect([rows[0]?.itemText, rows[0]?.itemNotText]).toEqual(["", value !== null]);
    },
  );
});

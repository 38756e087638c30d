import { describe, expect, it } from "vitest";
import type { SourceOptions } from "../../../../src/io/input/types.js";
import { piped, readSource } from "../../input/sources/sources-reading.js";

async function read(content: string, options: Partial<SourceOptions> = {}) {
  const { source, rows } = await readSource("ndjson", piped(content), {
    itemColumn: null,
    ...options,
  });
  return { reading: source.reading, items: rows.map((row) => row.itemText), rows };
}

describe("an NDJSON input without flags", () => {
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
      {
        peer: "192.0.2.1",
        dns: { answers: [{ rdata: "x" }, { rdata: "192.0.2.2" }] },
      },
      { name: "dns.answers[].rdata" },
    ],
  ])("names the path of items in %s, and does not take it", async (_, object, other) => {
    const { reading } = await ndjson([object]);
    expect(reading.items).toMatchObject([{ name: "peer" }]);
    expect(reading.others).toMatchObject({ sampled: 1, columns: [other] });
    const { items } = await read(JSON.stringify(object), { itemColumn: other.name });
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

  it.each([[["a.example", "b.example"]], [{ a: 1 }], [3221225985], [true], [[]]])(
    "marks an item that isn't text: %j",
    async (value) => {
      const { rows } = await read(`${JSON.stringify({ item: value })}\n`, { itemColumn: "item" });
      expect([rows[0]?.itemText, rows[0]?.itemNotText]).toEqual(["", true]);
    },
  );
});

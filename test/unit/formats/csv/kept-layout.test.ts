import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  openSource,
  piped,
  plainRow,
  positionAfter,
  readSource,
} from "../../../contract/sources-reading.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

/** Options without any flag, for an input whose name tells the format. */
const noFlags = { guessed: true, header: null, itemColumn: null } as const;

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");
}

describe("a resumed run", () => {
  const content = `# feed\n# "id","peer","kind"\n${lines(300, (n) => `"${n}", "192.0.2.${n % 250}", "ip"`)}`;

  it("keeps its layout, whatever a new sample would show", async () => {
    const { source, rows } = await readSource("csv", piped(content), noFlags);
    const resume = positionAfter(rows[9]!, source);
    const later = content.replace(/"192\.0\.2\.\d+"/g, (cell) => cell.replace("192", "xyz"));
    const rest = await readSource("csv", piped(later), { ...noFlags, resume });
    expect(rest.source.reading).toEqual(source.reading);
    expect(rest.rows.slice(0, 2).map((row) => row.itemText)).toEqual(["xyz.0.2.10", "xyz.0.2.11"]);
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
  ] as const)("of %s continues once a pause leaves a clear choice", async (format, first, more) => {
    const clock = new ManualClock();
    const stream = live(first);
    const opening = openSource(format, { stream, name: "stdin" }, { ...noFlags, clock });
    const source = await clock.run(opening);
    expect(source.reading.items[0].name).toBe("peer");
    stream.push(more);
    stream.push(null);
    const items: string[] = [];
    for await (const rows of source.rows) items.push(...rows.map((row) => row.itemText));
    expect(items).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  });

  it("is sampled further while its records leave the choice open", async () => {
    const clock = new ManualClock();
    const stream = live("a,b\n192.0.2.1,192.0.2.2\n");
    const opening = openSource("csv", { stream, name: "stdin" }, { ...noFlags, clock });
    // One pause for the first lines and one for the records.
    while (clock.asked.length < 2) await clock.advance(1000);
    await clock.advance(10_000);
    stream.push("192.0.2.3,x\n192.0.2.4,y\n192.0.2.5,z\n");
    stream.push(null);
    const source = await clock.run(opening);
    await source.close();
    expect(source.reading.items[0]).toMatchObject({ name: "a", sample: { share: 1 } });
  });
});

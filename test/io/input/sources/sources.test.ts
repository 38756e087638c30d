import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import type { SourceFormat } from "../../../../src/io/formats/types.js";
import type { SourceInput } from "../../../../src/io/input/types.js";
import {
  delimiterOf,
  openSource,
  piped,
  plainRow,
  positionIn,
  readSource,
  streamOf,
} from "./sources-reading.js";

/** A messy input of one format and what every source must read from it. */
interface SourceSample {
  readonly content: string;
  readonly columns: readonly string[];
  readonly items: readonly string[];
}

const bom = "\ufeff";

/** BOM, mixed line ends, blank lines, comments, non-ASCII text, no line end at the end. */
const sourceSamples: Readonly<Record<Exclude<SourceFormat, "json">, SourceSample>> = {
  csv: {
    content:
      `${bom}# made by hand\r\n\r\nid, item ,note\r\n` +
      "1,192.0.2.1,plain\n" +
      '2,"192.0.2.2","two\r\nlines, ""quoted"""\r\n' +
      "\n# in between\n" +
      "3,192.0.2.3\n" +
      "4,192.0.2.4,Übersicht 😀,surplus\n" +
      '5,"192.0.2.5",5" disk',
    columns: ["id", " item ", "note"],
    items: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"],
  },
  tsv: {
    content:
      `${bom}# made by hand\r\n\r\nid\t item \tnote\r\n` +
      "1\t192.0.2.1\tplain, with a comma\n" +
      '2\t"192.0.2.2"\t"two\nlines\tin a cell"\r\n' +
      "\n# in between\n" +
      "3\t192.0.2.3\n" +
      "4\t192.0.2.4\tÜbersicht 😀\tsurplus\n" +
      "5\t192.0.2.5\tlast",
    columns: ["id", " item ", "note"],
    items: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"],
  },
  ndjson: {
    content:
      `${bom}# made by hand\r\n\r\n` +
      '{"id":1,"item":"192.0.2.1"}\r\n' +
      ' {"id":2,"item":"192.0.2.2","note":"beyond"}\n' +
      "\n# in between\n" +
      "this is broken\n" +
      '{"item":"192.0.2.4","id":4.0,"note":"Übersicht 😀"}\n' +
      '{"id":5,"item":"192.0.2.5"}',
    columns: ["id", "item"],
    items: ["192.0.2.1", "192.0.2.2", "", "192.0.2.4", "192.0.2.5"],
  },
  text: {
    content:
      `${bom}# made by hand\r\n\r\n192.0.2.1\r\n  192.0.2.2\n\n  # in between\n   \n` +
      "hxxp://example[.]com/ü 😀\n192.0.2.4\n192.0.2.5",
    columns: ["item"],
    items: ["192.0.2.1", "  192.0.2.2", "hxxp://example[.]com/ü 😀", "192.0.2.4", "192.0.2.5"],
  },
};

/** Ways in which the same bytes arrive. */
const arrivals = ["file", "chunks of 1", "chunks of 7", "chunks of 65536"] as const;
const storages = ["plain", "gzip"] as const;

/** JSON documents are converted into NDJSON before they are read. */
const textFormats = Object.keys(sourceSamples) as (keyof typeof sourceSamples)[];

const folder = await mkdtemp(join(tmpdir(), "repute-sources-"));
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.each(textFormats)("%s source", (format) => {
  const sample = sourceSamples[format];
  const options = { comment: "#" };

  describe.each(storages)("stored %s", (storage) => {
    const bytes = (content: string): Buffer =>
      storage === "gzip" ? inMembers(content) : Buffer.from(content);

    describe.each(arrivals)("read from a %s", (arrival) => {
      const input = async (content = sample.content): Promise<SourceInput> => {
        const stored = bytes(content);
        if (arrival !== "file") return piped(stored, Number(arrival.replace("chunks of ", "")));
        const path = join(folder, `${format}-${storage}-${stored.length}`);
        await writeFile(path, stored);
        return { path };
      };

      it("returns one row per record, in order, with a cell per column", async () => {
        const { source, rows } = await readSource(format, await input(), options);
        expect([source.columns, source.reading.items[0].name.trim()]).toEqual([
          sample.columns,
          "item",
        ]);
        expect(rows.map(({ number, itemText }) => [number, itemText])).toEqual(
          sample.items.map((item, index) => [index + 1, item]),
        );
        expect(new Set(rows.map(({ cells }) => cells.length))).toEqual(
          new Set([sample.columns.length]),
        );
        expect(source.bytesRead()).toBe(bytes(sample.content).length);
      });

      it("returns the same rows in the same layout to a resumed run", async () => {
        const { rows, source } = await readSource(format, await input(), options);
        const startAt = positionIn(source);
        const again = await readSource(format, await input(), { ...options, startAt });
        expect(again.rows.map(plainRow)).toEqual(rows.map(plainRow));
        expect([again.source.columns, again.source.reading]).toEqual([
          source.columns,
          source.reading,
        ]);
      });
    });
  });

  it("returns all rows, in batches that are not empty", async () => {
    const head = delimiterOf(format) !== null ? "item\n" : "";
    const record = format === "ndjson" ? '{"item":"192.0.2.1"}\n' : "192.0.2.1\n";
    const source = await openSource(format, piped(head + record.repeat(1300)));
    const sizes: number[] = [];
    for await (const batch of source.rows) sizes.push(batch.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1300);
    expect(sizes).not.toContain(0);
  });

  it("closes its input when the loop is left early", async () => {
    const stream = streamOf(sample.content.repeat(3), 7);
    const source = await openSource(format, { stream, name: "stdin" }, options);
    for await (const batch of source.rows) if (batch.length > 0) break;
    expect(stream.destroyed).toBe(true);
  });

  it("reads at most a few chunks ahead", async () => {
    const record = format === "ndjson" ? '{"item":"192.0.2.1"}\n' : "item\n";
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        given += 1;
        yield Buffer.from(record.repeat(1000));
      }
    }
    const stream = Readable.from(endless(), { objectMode: false });
    const source = await openSource(format, { stream, name: "stdin" });
    for await (const batch of source.rows) if (batch.length > 0) break;
    expect(given).toBeLessThan(20);
  });

  describe.each(["UTF-16LE", "UTF-16BE"])("in %s with a byte order mark", (encoding) => {
    const content = Buffer.from(sample.content, "utf16le");
    if (encoding === "UTF-16BE") content.swap16();

    it("has the same rows as in UTF-8, with a warning", async () => {
      const { source, rows } = await readSource(format, piped(content, 7), options);
      expect(rows.map((row) => row.itemText)).toEqual(sample.items);
      const warning = `the input is ${encoding}; converted to UTF-8`;
      expect(source.warnings.filter((told) => told === warning)).toHaveLength(1);
    });
  });

  it("survives random bytes", async () => {
    const junk = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 89) % 256));
    const content = Buffer.concat([Buffer.from(sample.content + "\n"), junk.filter(notQuote)]);
    const { rows } = await readSource(format, piped(content, 1000), options);
    expect(rows.length).toBeGreaterThan(sample.items.length);
  });
});

/** Gzip data of three members, split in the middle of lines. */
function inMembers(content: string): Buffer {
  const bytes = Buffer.from(content);
  const third = Math.floor(bytes.length / 3);
  const parts = [
    bytes.subarray(0, third),
    bytes.subarray(third, 2 * third),
    bytes.subarray(2 * third),
  ];
  return Buffer.concat(parts.map((part) => gzipSync(part)));
}

function notQuote(byte: number): boolean {
  return byte !== 0x22;
}

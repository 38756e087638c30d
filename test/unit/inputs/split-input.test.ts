import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/core/row.js";
import { openSource } from "../../../src/inputs/open-input.js";
import { InputSplitter, type Part } from "../../../src/inputs/split-input.js";
import type { InputRange, SourceOptions } from "../../../src/inputs/types.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const plain: SourceOptions = {
  format: "csv",
  gzip: false,
  guessed: true,
  header: null,
  comment: null,
  itemColumn: null,
  kindColumn: null,
  resume: null,
};

async function rowsOf(path: string, range: InputRange | null, options: SourceOptions) {
  const input = range === null ? { path } : { path, range };
  const source = await openSource(input, options);
  const rows: Row[] = [];
  try {
    for await (const batch of source.rows) rows.push(...batch);
  } finally {
    await source.close();
  }
  return { rows, columns: source.columns, bytes: source.bytesTotal };
}

interface Split {
  readonly parts: readonly (Part & { readonly range: InputRange })[];
  readonly copy: Buffer;
}

async function split(path: string, options: SourceOptions, rowsPerPart: number): Promise<Split> {
  const copied: Buffer[] = [];
  const splitter = new InputSplitter(async (bytes) => void copied.push(Buffer.from(bytes)));
  const opened = await splitter.open({ path }, { gzip: options.gzip, offset: 0 });
  const source = await openSource(opened, options);
  const { rows, columns, reading } = source;
  const parts: Split["parts"][number][] = [];
  for await (const part of splitter.parts(rows, rowsPerPart)) {
    const { start, end, row, line, crc } = part;
    const checksum = { bytes: end - start, crc, marks: [] };
    parts.push({ ...part, range: { start, end, row, line, columns, reading, checksum } });
  }
  await source.close();
  return { parts, copy: Buffer.concat(copied) };
}

async function saved(content: string | Buffer, name = "input"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return path;
}

/** A row without its offset, which counts from the start of the range. */
const withoutEnd = ({ number, line, cells, itemText, endLine }: Row) => ({
  number,
  line,
  cells,
  itemText,
  endLine,
});

describe("a split input", () => {
  it.each([
    [
      "csv",
      '\ufeff# list\nip,note\n192.0.2.1,"a\nb"\n\n192.0.2.2,c\r\n192.0.2.3,"d\n"\n192.0.2.4,e',
    ],
    ["csv", "192.0.2.1,a\r192.0.2.2,b\r192.0.2.3,c\r"],
    ["csv", "ip,note\n"],
    ["tsv", "ip\tnote\n192.0.2.1\ta\n192.0.2.2\tb\n"],
    ["ndjson", '{"ip":"192.0.2.1"}\n\n{"ip":"192.0.2.2"}\nnone\n{"ip":"192.0.2.3"}\n'],
    ["text", "# list\n192.0.2.1\n\n192.0.2.2\n192.0.2.3"],
    ["text", ""],
  ] as const)("has the same rows in its parts (%s)", async (format, content) => {
    const path = await saved(content);
    const options = { ...plain, format };
    const whole = await rowsOf(path, null, options);
    for (const rowsPerPart of [1, 2, 1000]) {
      const { parts, copy } = await split(path, options, rowsPerPart);
      expect(copy.toString()).toBe(content);
      expect(parts).toHaveLength(Math.max(1, Math.ceil(whole.rows.length / rowsPerPart)));
      const found: Row[] = [];
      let reached = 0;
      for (const { start, end, rows, crc, range } of parts) {
        expect(start).toBe(reached);
        reached = end;
        expect(crc).toBe(crc32(copy.subarray(start, end)));
        const part = await rowsOf(path, range, options);
        expect(part.columns).toEqual(whole.columns);
        expect(part.bytes).toBe(end - start);
        expect(part.rows).toHaveLength(rows);
        found.push(...part.rows);
      }
      expect(found.map(withoutEnd)).toEqual(whole.rows.map(withoutEnd));
    }
  });

  it("copies what is compressed or UTF-16", async () => {
    const text = "ip\n192.0.2.1\n192.0.2.2\n";
    const gzipped = await saved(gzipSync(`\ufeff${text}`));
    const { parts, copy } = await split(gzipped, { ...plain, gzip: true }, 1);
    expect(copy.toString()).toBe(`\ufeff${text}`);
    expect(parts.map(({ start, end }) => [start, end])).toEqual([
      [0, 16],
      [16, 26],
    ]);
    const wide = await saved(Buffer.from(`\ufeff${text}`, "utf16le"));
    expect((await split(wide, plain, 1)).copy.toString()).toBe(text);
  });

  it("continues within a range", async () => {
    const path = await saved("ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n");
    const { parts } = await split(path, plain, 2);
    const { range } = parts[1]!;
    const source = await openSource({ path, range }, plain);
    const { value } = await source.rows[Symbol.asyncIterator]().next();
    const [first] = value as readonly Row[];
    const { columns, reading } = source;
    const position = { offset: first!.end, row: first!.number, line: first!.endLine };
    const resume = { ...position, columns, reading, input: source.checksum()! };
    const { rows } = await rowsOf(path, range, { ...plain, resume });
    expect(rows.map(({ number, itemText }) => [number, itemText])).toEqual([[4, "192.0.2.4"]]);
    await source.close();
  });

  it.each(["ip\n192.0.2.1\n192\n", "ip\n192.0.2.1\n192.0.2.9\n"])(
    "rejects a part that was truncated or changed before it reads a row",
    async (now) => {
      const path = await saved("ip\n192.0.2.1\n192.0.2.2\n");
      const { parts } = await split(path, plain, 1);
      await writeFile(path, now);
      await rowsOf(path, parts[0]!.range, plain);
      const damaged = rowsOf(path, parts[1]!.range, plain);
      await expect(damaged).rejects.toMatchObject({ code: "input_changed" });
    },
  );
});

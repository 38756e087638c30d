import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Row } from "../../../src/core/row.js";
import { openSource } from "../../../src/inputs/open-input.js";
import { splitInput } from "../../../src/inputs/split-input.js";
import type { InputRange, SourceOptions } from "../../../src/inputs/types.js";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "repute-test-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

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
  for await (const batch of source.rows) rows.push(...batch);
  return { rows, columns: source.columns, bytes: source.bytesTotal };
}

async function saved(content: string): Promise<string> {
  const path = join(folder, "input");
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
    ["tsv", "ip\tnote\n192.0.2.1\ta\n192.0.2.2\tb\n"],
    ["ndjson", '{"ip":"192.0.2.1"}\n\n{"ip":"192.0.2.2"}\nnone\n{"ip":"192.0.2.3"}\n'],
    ["text", "# list\n192.0.2.1\n\n192.0.2.2\n192.0.2.3"],
  ] as const)("has the same rows in its ranges (%s)", async (format, content) => {
    const path = await saved(content);
    const options = { ...plain, format };
    const whole = await rowsOf(path, null, options);
    for (const bytes of [1, 20, 1000]) {
      const found: Row[] = [];
      let end = 0;
      for await (const range of splitInput(path, options, bytes)) {
        expect(range.start).toBe(end);
        end = range.end;
        const part = await rowsOf(path, range, options);
        expect(part.columns).toEqual(whole.columns);
        expect(part.bytes).toBe(range.end - range.start);
        expect(part.rows.at(-1)?.end).toBe(range.end - range.start);
        found.push(...part.rows);
      }
      expect(found.map(withoutEnd)).toEqual(whole.rows.map(withoutEnd));
    }
  });

  it("continues within a range", async () => {
    const path = await saved("ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n");
    const ranges: InputRange[] = [];
    for await (const range of splitInput(path, plain, 20)) ranges.push(range);
    const range = ranges[1]!;
    const source = await openSource({ path, range }, plain);
    const { value } = await source.rows[Symbol.asyncIterator]().next();
    const [first] = value as readonly Row[];
    const { columns, reading } = source;
    const position = { offset: first!.end, row: first!.number, line: first!.endLine };
    const resume = { ...position, columns, reading, input: source.checksum() };
    const { rows } = await rowsOf(path, range, { ...plain, resume });
    expect(rows.map(({ number, itemText }) => [number, itemText])).toEqual([[4, "192.0.2.4"]]);
  });

  it("rejects a range of a file that was truncated", async () => {
    const path = await saved("ip\n192.0.2.1\n192.0.2.2\n");
    const ranges: InputRange[] = [];
    for await (const range of splitInput(path, plain, 10)) ranges.push(range);
    await saved("ip\n192.0.2.1\n192\n");
    await expect(rowsOf(path, ranges[1]!, plain)).rejects.toMatchObject({ code: "input_changed" });
  });
});

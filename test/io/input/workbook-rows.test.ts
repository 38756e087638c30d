import { strToU8, zipSync } from "fflate";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readSource } from "./sources/sources-reading.js";
import { workbookRows } from "../../../src/io/input/workbook-rows.js";

const styles =
  '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/></numFmts>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>';

const rows =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>ip</t></is></c><c r="C1" t="s"><v>0</v></c></row>' +
  '<row r="3"><c r="A3"><v>12345678901234567890</v></c><c r="B3"><v>0.30000000000000004</v></c>' +
  '<c r="C3" s="1"><v>45000</v></c><c r="D3" s="2"><v>45000.5</v></c><c r="E3" t="b"><v>1</v></c></row>';

function workbook(
  sheet = `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  level: 0 | 6 = 6,
  others = "",
): Buffer {
  const files = {
    "xl/workbook.xml": `<workbook><sheets><sheet name="One" r:id="r1"/>${others}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels":
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/styles.xml": styles,
    "xl/sharedStrings.xml": '<sst><si><t>a "b"</t><rPh><t>x</t></rPh></si></sst>',
    "xl/worksheets/sheet1.xml": sheet,
  };
  return Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([path, xml]) => [path, strToU8(xml)])), {
      level,
    }),
  );
}

/** A workbook whose content does not match its checksums. */
function damaged(text: string, other: string): Buffer {
  const whole = workbook(undefined, 0);
  whole.write(other, whole.indexOf(text));
  return whole;
}

/** A workbook with the numbers of its central directory as fields of ZIP64. */
function inZip64(whole: Buffer): Buffer {
  const end = whole.lastIndexOf("PK\u0005\u0006", undefined, "latin1");
  const directory = whole.readUInt32LE(end + 16);
  const entries: Buffer[] = [];
  for (let at = directory; at < end;) {
    const [name, more] = [whole.readUInt16LE(at + 28), whole.readUInt16LE(at + 30)];
    const next = at + 46 + name + more + whole.readUInt16LE(at + 32);
    const entry = Buffer.from(whole.subarray(at, at + 46));
    const extra = Buffer.from([9, 0, 0, 0, 1, 0, 24, 0, ...Buffer.alloc(24)]);
    for (const [field, place] of [
      [24, 8],
      [20, 16],
      [42, 24],
    ] as const) {
      extra.writeBigUInt64LE(BigInt(entry.readUInt32LE(field)), place);
      entry.fill(0xff, field, field + 4);
    }
    entry.writeUInt16LE(more + extra.length, 30);
    entries.push(entry, whole.subarray(at + 46, at + 46 + name), extra);
    entries.push(whole.subarray(at + 46 + name, next));
    at = next;
  }
  const start = Buffer.concat([whole.subarray(0, directory), ...entries]);
  const record = Buffer.alloc(56);
  record.write("PK\u0006\u0006", "latin1");
  record.writeBigUInt64LE(BigInt(whole.readUInt16LE(end + 10)), 32);
  record.writeBigUInt64LE(BigInt(directory), 48);
  const locator = Buffer.alloc(20);
  locator.write("PK\u0006\u0007", "latin1");
  locator.writeBigUInt64LE(BigInt(start.length), 8);
  const last = Buffer.from(whole.subarray(end)).fill(0xff, 8, 20);
  return Buffer.concat([start, record, locator, last]);
}

async function csvOf(bytes: Buffer, sheet?: string, warnings: string[] = []): Promise<string> {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield bytes;
  }
  const pieces: Buffer[] = [];
  for await (const piece of workbookRows(chunks(), { name: "in.xlsx", sheet, warnings }))
    pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

describe("workbookRows", () => {
  it("keeps digits, shows dates, and leaves missing cells and rows empty", async () => {
    expect(await csvOf(workbook(), "One")).toBe(
      'ip,,"a ""b"""\n\n12345678901234567890,0.3,2023-03-15,2023-03-15T12:00:00,true\n',
    );
  });

  it("names other sheets, unless one is chosen", async () => {
    const others = '<sheet name="Two" r:id="r2"/><sheet name="Old" r:id="r3" state="hidden"/>';
    const warnings: string[] = [];
    await csvOf(workbook(undefined, 6, others), "One", warnings);
    expect(warnings).toEqual([]);
    await csvOf(workbook(undefined, 6, others), undefined, warnings);
    expect(warnings).toEqual([
      'only the first sheet of in.xlsx is read; --sheet reads another: "Two"',
    ]);
  });

  it("names other sheets where the first one is a cover", async () => {
    const row = '<row><c t="b"><v>1</v></c><c t="b"><v>0</v></c></row>';
    const cover = `<worksheet><sheetData>${row}${row}</sheetData></worksheet>`;
    const bytes = workbook(cover, 6, '<sheet name="Two" r:id="r2"/>');
    const input = { stream: Readable.from([bytes]), name: "in.xlsx" };
    await expect(
      readSource("csv", input, { header: undefined, itemColumn: undefined }),
    ).rejects.toMatchObject({
      code: "column_not_found",
      hint: expect.stringMatching(/^only the first sheet .* another: "Two"; ./) as string,
    });
  });

  it("reads archives with fields of ZIP64", async () => {
    expect(await csvOf(inZip64(workbook()))).toBe(await csvOf(workbook()));
    expect(await csvOf(inZip64(workbook(undefined, 0)))).toBe(await csvOf(workbook()));
  });

  it("reads an archive to which a program has appended bytes", async () => {
    expect(await csvOf(Buffer.concat([workbook(), Buffer.alloc(2000)]))).toBe(
      await csvOf(workbook()),
    );
  });

  it.each([
    ["a sheet of another name", workbook(), "Two", "sheet_not_found"],
    ["a sheet that is cut off", workbook(`<worksheet><sheetData>${rows}`), "One", "input_workbook"],
    ["a sheet that is damaged", damaged("45000.5", "45001.5"), "One", "input_workbook"],
    ["texts that are damaged", damaged("<t>a ", "<t>b "), "One", "input_workbook"],
    ["an archive that is cut off", workbook().subarray(0, 300), "One", "input_workbook"],
  ])("refuses %s", async (_, bytes, sheet, code) => {
    await expect(csvOf(bytes, sheet)).rejects.toMatchObject({ code });
  });
});

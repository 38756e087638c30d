import fc from "fast-check";
import { expect, it } from "vitest";
import { RecordSplitter } from "../../../src/io/formats/reading/lines.js";

function recordsOf(text: string, size: number, quoting: boolean): string[] {
  const splitter = new RecordSplitter({ quoting });
  const bytes = Buffer.from(text);
  const records: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const record of splitter.push(bytes.subarray(at, at + size))) records.push(String(record));
  }
  const rest = splitter.end();
  return rest === null ? records : [...records, `rest: ${String(rest)}`];
}

it.each([1, 2, 3, 100])("splits lines in chunks of %d bytes", (size) => {
  expect(recordsOf('a\r\n\n"b\nc', size, false)).toEqual(["a\r\n", "\n", '"b\n', "rest: c"]);
});

it.each([1, 2, 3, 100])("keeps quoted line ends in chunks of %d bytes", (size) => {
  const text = 'a,"b\n""c\n"\nd\n"e\n';
  expect(recordsOf(text, size, true)).toEqual(['a,"b\n""c\n"\n', "d\n", 'rest: "e\n']);
});

it("keeps every byte for any chunks", () => {
  const text = fc.array(fc.constantFrom("a", '"', "\n", ",")).map((letters) => letters.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), fc.boolean(), (content, size, quoting) => {
      const records = recordsOf(content, size, quoting);
      expect(records.join("").replace("rest: ", "")).toBe(content);
      expect(records).toEqual(recordsOf(content, 1000, quoting));
    }),
  );
});

import { expect, test } from "vitest";
import {
  decodeRecord,
  encodeRecord,
  keyOfRecord,
  linkRecord,
  readHead,
} from "../../../../src/lookup/journal/finding-record.js";
import { complete, invalid } from "../findings.js";

test("a record has its key and finding", () => {
  const finding = invalid("no such item: é");
  expect(decodeRecord(encodeRecord("key ü", 1, finding))).toEqual({ key: "key ü", finding });
});

test("an answer's body comes back as the finding that it was read as", () => {
  const query = { item: "192.0.2.1", note: "é\n{}" };
  const body = Buffer.from(
    JSON.stringify({ status: "success", statusCode: 200, result: query }, null, 2),
  );
  const { body: _, ...finding } = { ...complete(query), query, attempts: 3, body };
  const record = encodeRecord('key "ü"\n', 1, { ...finding, body });
  expect(decodeRecord(record)).toEqual({ key: 'key "ü"\n', finding });
  expect(keyOfRecord(record)).toBe('key "ü"\n');
});

test("an answer's body that is a quick check's comes back as one", () => {
  const quickCheck = { item: "192.0.2.1", activity: true };
  const finding = { ...complete(), query: null, quickCheck };
  const body = Buffer.from(JSON.stringify({ result: quickCheck }));
  expect(decodeRecord(encodeRecord("key", 1, { ...finding, body })).finding).toEqual(finding);
});

test("of a body that is white space for the most part the data alone is kept", () => {
  const query = { item: "192.0.2.1" };
  const body = Buffer.from(`${JSON.stringify({ result: query })}${" ".repeat(1_000_000)}`);
  const record = encodeRecord("key", 1, { ...complete(query), body });
  expect(record.length).toBeLessThan(1000);
  expect(decodeRecord(record)).toEqual({ key: "key", finding: complete(query) });
});

test("a record has its hash, and no record before it at first", () => {
  expect(readHead(encodeRecord("key", 0xfffffff0, complete()))).toEqual({
    previous: 0,
    hash: 0xfffffff0,
  });
});

test("a record can be linked to the one before it", () => {
  const bytes = encodeRecord("key", 5, complete());
  linkRecord(bytes, 0xfffffff1);
  expect([readHead(bytes).previous, decodeRecord(bytes).finding]).toEqual([0xfffffff1, complete()]);
});

import { expect, test } from "vitest";
import {
  decodeRecord,
  encodeRecord,
  linkRecord,
  readHead,
} from "../../../../src/lookup/journal/finding-record.js";
import { complete, invalid } from "../findings.js";

test("a record has its key and finding", () => {
  const finding = invalid("no such item: é");
  expect(decodeRecord(encodeRecord("key ü", 1, finding))).toEqual({ key: "key ü", finding });
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

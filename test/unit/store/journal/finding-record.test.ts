import { expect, test } from "vitest";
import {
  decodeRecord,
  mostRecordBytes,
  readHead,
  recordParts,
  writeRecord,
} from "../../../../src/store/journal/finding-record.js";
import type { Finding } from "../../../../src/core/finding.js";
import { complete, invalid } from "../../lookup/findings.js";

/** The bytes of a record, written behind others and before some room. */
function record(key: string, finding: Finding, head = { previous: 0, hash: 1 }): Buffer {
  const parts = recordParts(key, finding);
  const bytes = Buffer.alloc(3 + mostRecordBytes(parts));
  return bytes.subarray(3, writeRecord(bytes, 3, head, parts));
}

test("a record has its key and finding", () => {
  const finding = invalid("no such item: é");
  expect(decodeRecord(record("key ü", finding))).toEqual({ key: "key ü", finding });
});

test("an answer's body comes back as the finding that it was read as", () => {
  const query = { item: "192.0.2.1", note: "é\n{}" };
  const body = Buffer.from(
    JSON.stringify({ status: "success", statusCode: 200, result: query }, null, 2),
  );
  const { body: _, ...finding } = { ...complete(query), query, attempts: 3, body };
  expect(decodeRecord(record('key "ü"\n', { ...finding, body }))).toEqual({
    key: 'key "ü"\n',
    finding,
  });
});

test("an answer's body that is a quick check's comes back as one", () => {
  const quickCheck = { item: "192.0.2.1", activity: true };
  const finding = { ...complete(), query: null, quickCheck };
  const body = Buffer.from(JSON.stringify({ result: quickCheck }));
  expect(decodeRecord(record("key", { ...finding, body })).finding).toEqual(finding);
});

test("of a body that is white space for the most part the data alone is kept", () => {
  const query = { item: "192.0.2.1" };
  const body = Buffer.from(`${JSON.stringify({ result: query })}${" ".repeat(1_000_000)}`);
  const bytes = record("key", { ...complete(query), body });
  expect(bytes.length).toBeLessThan(1000);
  expect(decodeRecord(bytes)).toEqual({ key: "key", finding: complete(query) });
});

test("a record has its hash and the number of the one before it", () => {
  const head = { previous: 0xfffffff1, hash: 0xfffffff0 };
  const bytes = record("key", complete(), head);
  expect(readHead(bytes)).toEqual(head);
  expect(decodeRecord(bytes).finding).toEqual(complete());
});

/** Numbers that lose digits when they are parsed, a member named twice, and white space. */
const received =
  '{ "item":"192.0.2.1", "n":[1.0, -0, 1e400, 123456789012345678901234567890], "n2":1,"n2":2 }';

test("the text of a result comes back out of an answer's body, without its line breaks", () => {
  const query = JSON.parse(received) as Finding["query"];
  const pretty = received.replaceAll(", ", ",\r\n");
  const body = Buffer.from(`{"status":"success","result":${pretty} ,"statusCode":200}`);
  const bytes = record("key", { ...complete(), query, body });
  expect(decodeRecord(bytes, { asReceived: true }).finding.queryText).toBe(
    received.replaceAll(", ", ","),
  );
  expect(decodeRecord(bytes).finding.queryText).toBeUndefined();
});

test("the text of a result is kept where there is no body", () => {
  const quickCheck = JSON.parse(received) as Finding["query"];
  const bytes = record("key", { ...complete(), query: null, quickCheck, quickCheckText: received });
  const { finding } = decodeRecord(bytes, { asReceived: true });
  expect(finding.quickCheckText).toBe(received);
  expect(finding.quickCheck).toEqual(quickCheck);
  expect(finding.queryText).toBeUndefined();
  expect(decodeRecord(bytes).finding).toEqual({ ...complete(), query: null, quickCheck });
});

test("a member named __proto__ is in the text of a result and not in its value", () => {
  const queryText = '{"item":"192.0.2.1","__proto__":{"polluted":true}}';
  const bytes = record("key", { ...complete({ item: "192.0.2.1" }), queryText });
  const { finding } = decodeRecord(bytes, { asReceived: true });
  expect(finding.queryText).toBe(queryText);
  expect(finding.query).toEqual({ item: "192.0.2.1" });
  expect(Object.hasOwn(finding.query ?? {}, "__proto__")).toBe(false);
});

test("a long answer tells its size", () => {
  const query = { item: "192.0.2.1", note: "x".repeat(9000) };
  const body = Buffer.from(JSON.stringify({ result: query }));
  expect(decodeRecord(record("key", { ...complete(query), body })).finding.bytes).toBe(body.length);
  expect(decodeRecord(record("key", complete(query))).finding.bytes).toBeGreaterThan(9000);
});

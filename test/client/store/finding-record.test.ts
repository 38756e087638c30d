import { expect, test } from "vitest";
import {
  decodeRecord,
  maxRecordBytes,
  recordParts,
  writeRecord,
} from "../../../src/client/store/finding-record.js";
import type { LookupRecord, Finding, JsonObject } from "../../../src/core/finding.js";
import { complete, failed, quick } from "../lookup/findings.js";

/** Bytes of a record between other bytes. */
function record(
  finding: Finding,
  parts: Partial<LookupRecord> = {},
  { key = "key", head = { previous: 0, hash: 1 } } = {},
): Buffer {
  const written = recordParts(key, { finding, again: null, drift: [], ...parts });
  const bytes = Buffer.alloc(3 + maxRecordBytes(written));
  return bytes.subarray(3, writeRecord(bytes, 3, head, written));
}

test.each([undefined, Buffer.from('{"result":{"item":"192.0.2.1","type":"IP"}}')])(
  "a record contains its row, its requests and unknown response values",
  (body) => {
    const origin = { row: 7, outcomes: ["503", "timeout"] };
    const bytes = record(complete(), { origin, drift: ["intent=evil"], body });
    expect(decodeRecord(bytes).value).toMatchObject({ origin, drift: ["intent=evil"] });
  },
);

test("the record of an attempt says what a retry could change", () => {
  const bytes = record(failed("timeout"), { again: { policy: "transient", afterMs: 8000 } });
  expect(decodeRecord(bytes).value.again).toEqual({ policy: "transient", afterMs: null });
});

test("an answer's body is decoded to the same finding", () => {
  const result = { item: "192.0.2.1", type: "IP", note: "é\n{}" };
  const body = Buffer.from(JSON.stringify({ status: "success", statusCode: 200, result }, null, 2));
  const finding = { ...complete(result), attempts: 3 };
  const { key, value } = decodeRecord(record(finding, { body }, { key: 'key "ü"\n' }));
  expect([key, value.finding]).toEqual(['key "ü"\n', finding]);
});

test("of a body that is mostly white space, only the data is stored", () => {
  const result = { item: "192.0.2.1" };
  const body = Buffer.from(`${JSON.stringify({ result })}${" ".repeat(1_000_000)}`);
  const bytes = record(complete(result), { body });
  expect(bytes.length).toBeLessThan(1000);
  expect(decodeRecord(bytes).value.finding).toEqual(complete(result));
});

/** Numbers that lose digits when parsed, a repeated member, and white space. */
const received =
  '{ "item":"192.0.2.1", "n":[1.0, -0, 1e400, 123456789012345678901234567890], "n2":1,"n2":2 }';

test("the text of a result is restored from the body, without line breaks", () => {
  const pretty = received.replaceAll(", ", ",\r\n");
  const body = Buffer.from(`{"status":"success","result":${pretty} ,"statusCode":200}`);
  const bytes = record(complete(JSON.parse(received) as JsonObject), { body });
  expect(textIn(decodeRecord(bytes, { asReceived: true }))).toBe(received.replaceAll(", ", ","));
  expect(textIn(decodeRecord(bytes))).toBeUndefined();
});

test("the text of a result is stored if there is no body", () => {
  const result = JSON.parse(received) as JsonObject;
  const bytes = record({ ...complete(), answers: { "quick-check": { result, text: received } } });
  expect(decodeRecord(bytes, { asReceived: true }).value.finding.answers).toEqual({
    "quick-check": { result, text: received },
  });
  expect(decodeRecord(bytes).value.finding).toEqual(quick(result));
});

test("a member named __proto__ is in the text of a result but not in its value", () => {
  const text = '{"item":"192.0.2.1","__proto__":{"polluted":true}}';
  const decoded = decodeRecord(record(complete({}, text)), { asReceived: true });
  expect(textIn(decoded)).toBe(text);
  const result = decoded.value.finding.answers.query?.result ?? {};
  expect(result).toEqual({ item: "192.0.2.1" });
  expect(Object.hasOwn(result, "__proto__")).toBe(false);
});

test("a long answer has its size", () => {
  const result = { item: "192.0.2.1", note: "x".repeat(9000) };
  const body = Buffer.from(JSON.stringify({ result }));
  const bytesIn = (bytes: Buffer) => decodeRecord(bytes).value.finding.answers.query?.bytes;
  expect(bytesIn(record(complete(result), { body }))).toBe(body.length);
  expect(bytesIn(record(complete(result)))).toBeGreaterThan(9000);
});

function textIn({ value }: ReturnType<typeof decodeRecord>): string | undefined {
  return value.finding.answers.query?.text;
}

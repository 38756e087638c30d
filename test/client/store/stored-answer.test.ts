import { expect, test } from "vitest";
import {
  AnswerTable,
  type ReadBackOptions,
  storedRecord,
} from "../../../src/client/store/answer-table.js";
import { explainFault, SqliteFile } from "../../../src/client/store/sqlite-file.js";
import type { Finding, JsonObject, LookupRecord } from "../../../src/core/finding.js";
import { complete, failed, quick } from "../lookup/findings.js";

type Read = (options?: ReadBackOptions) => LookupRecord;

function openTable(): AnswerTable {
  const file = new SqliteFile(":memory:");
  file.create("run");
  return new AnswerTable(file);
}

/** Stores a record. Returns how it is read back, and the size of what is stored. */
function stored(
  finding: Finding,
  parts: Partial<LookupRecord> = {},
  key = "query key",
): { readonly read: Read; readonly size: number } {
  const table = openTable();
  const record = { finding, again: null, drift: [], ...parts };
  const n = table.add(key, 1, record);
  const answer = table.byNumber(n)!;
  expect(answer.key).toBe(key);
  return { read: (options) => storedRecord(answer, options), size: answer.body.length };
}

test.each([undefined, '{"result":{"item":"192.0.2.1","type":"IP"}}'])(
  "a record contains its row, its requests and unknown response values",
  (body) => {
    const origin = { row: 7, outcomes: ["503", "timeout"] };
    const { read } = stored(complete(), { origin, drift: ["intent=evil"], body });
    expect(read()).toMatchObject({ origin, drift: ["intent=evil"] });
  },
);

test.each([
  "link = link + 1",
  "stored_at = stored_at + 1",
  "stored_at = stored_at | 1 << 40",
  "stored_at = -1",
  "stored_at = 1 << 60",
  "head = head || ' '",
  "body = body || ' '",
])("an answer is damaged by %s", (change) => {
  const table = openTable();
  const n = table.add("query key", 1, { finding: complete(), again: null, drift: [] });
  table.file.database.exec(`UPDATE answers SET ${change}`);
  let kind: string | undefined;
  try {
    table.byNumber(n);
  } catch (error) {
    kind = explainFault("run.db", error).kind;
  }
  expect(kind).toBe("damaged");
});

test("the record of an attempt says what a retry could change", () => {
  const { read } = stored(failed("timeout"), { again: { policy: "transient", afterMs: 8000 } });
  expect(read().again).toEqual({ policy: "transient", afterMs: null });
});

test("an answer's body is decoded to the same finding", () => {
  const result = { item: "192.0.2.1", type: "IP", note: "é\n{}" };
  const body = JSON.stringify({ status: "success", statusCode: 200, result }, null, 2);
  const finding = { ...complete(result), attempts: 3 };
  const { read } = stored(finding, { body }, 'query "ü"\n');
  expect(read().finding).toEqual(finding);
});

test("of a body that is mostly white space, only the data is stored", () => {
  const result = { item: "192.0.2.1" };
  const body = `${JSON.stringify({ result })}${" ".repeat(1_000_000)}`;
  const { read, size } = stored(complete(result), { body });
  expect(size).toBeLessThan(1000);
  expect(read().finding).toEqual(complete(result));
});

/** Numbers that lose digits when parsed, a repeated member, and white space. */
const received =
  '{ "item":"192.0.2.1", "n":[1.0, -0, 1e400, 123456789012345678901234567890], "n2":1,"n2":2 }';

test("the text of a result is restored from the body, without line breaks", () => {
  const pretty = received.replaceAll(", ", ",\r\n");
  const body = `{"status":"success","result":${pretty} ,"statusCode":200}`;
  const { read } = stored(complete(JSON.parse(received) as JsonObject), { body });
  expect(textIn(read({ asReceived: true }))).toBe(received.replaceAll(", ", ","));
  expect(textIn(read())).toBeUndefined();
});

test("the text of a result is stored if there is no body", () => {
  const result = JSON.parse(received) as JsonObject;
  const answers = { "quick-check": { result, text: received } };
  const { read } = stored({ ...complete(), answers }, {}, "quick-check key");
  expect(read({ asReceived: true }).finding.answers).toEqual(answers);
  expect(read().finding).toEqual(quick(result));
});

test("a member named __proto__ is in the text of a result but not in its value", () => {
  const text = '{"item":"192.0.2.1","__proto__":{"polluted":true}}';
  const record = stored(complete({}, text)).read({ asReceived: true });
  expect(textIn(record)).toBe(text);
  const result = record.finding.answers.query?.result ?? {};
  expect(result).toEqual({ item: "192.0.2.1" });
  expect(Object.hasOwn(result, "__proto__")).toBe(false);
});

test("a long answer has its size", () => {
  const result = { item: "192.0.2.1", note: "x".repeat(9000) };
  const body = JSON.stringify({ result });
  const bytesIn = ({ read }: ReturnType<typeof stored>) => read().finding.answers.query?.bytes;
  expect(bytesIn(stored(complete(result), { body }))).toBe(body.length);
  expect(bytesIn(stored(complete(result)))).toBeGreaterThan(9000);
});

function textIn({ finding }: LookupRecord): string | undefined {
  return finding.answers.query?.text;
}

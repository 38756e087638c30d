import { expect, test } from "vitest";
import { AnswerReader, packAnswers } from "../../../../src/api/thread/answer-pack.js";
import type { Answer } from "../../../../src/api/types.js";

function readAll(reader: AnswerReader): [number, Answer][] {
  const all: [number, Answer][] = [];
  while (reader.next((seat, answer) => all.push([seat, answer])));
  return all;
}

test("answers come out as they went in, in order", () => {
  const headers = { "content-type": "application/json" };
  const seated = [
    { seat: 7, answer: { status: 200, headers, body: Buffer.from('{"a":"ä"}') } },
    { seat: 0, answer: { status: 503, headers: {}, body: Buffer.alloc(0) } },
    { seat: 4095, answer: { status: 429, headers, body: Buffer.from("x".repeat(100_000)) } },
  ];
  const reader = new AnswerReader({ ...packAnswers(seated), faults: [] });
  expect(readAll(reader)).toEqual(seated.map(({ seat, answer }) => [seat, answer]));
  expect(reader.next(() => expect.unreachable())).toBe(false);
});

test("of the headers those go along that are read, each set of them once", () => {
  const body = Buffer.from("{}");
  const of = (headers: Answer["headers"]): Answer => ({ status: 429, headers, body });
  const packed = packAnswers([
    { seat: 0, answer: of({ "retry-after": ["1", "2"], date: "today", server: "x" }) },
    { seat: 1, answer: of({ "x-ratelimit-reset": "3", date: "tomorrow" }) },
    { seat: 2, answer: of({ "retry-after": ["1", "2"], date: "some day" }) },
  ]);
  expect(packed.headers).toEqual(['{"retry-after":["1","2"]}', '{"x-ratelimit-reset":"3"}']);
  const headers = readAll(new AnswerReader({ ...packed, faults: [] })).map(
    ([, answer]) => answer.headers,
  );
  expect(headers).toEqual([
    { "retry-after": ["1", "2"] },
    { "x-ratelimit-reset": "3" },
    { "retry-after": ["1", "2"] },
  ]);
});

test("no answers are no answers", () => {
  expect(readAll(new AnswerReader({ ...packAnswers([]), faults: [] }))).toEqual([]);
});

import { expect, test } from "vitest";
import {
  AnswerReader,
  packAnswers,
  type SeatedAnswer,
} from "../../../../src/api/thread/answer-pack.js";
import type { Answer } from "../../../../src/api/types.js";

function readAll(reader: AnswerReader): [number, Answer][] {
  const all: [number, Answer][] = [];
  while (reader.next((seat, answer) => all.push([seat, answer])));
  return all;
}

const seat = (number: number, answer: Answer): SeatedAnswer => ({
  seat: number,
  path: `/query/${number}`,
  answer,
});

test.each([
  { headBytes: 0, paths: "" },
  { headBytes: 32, paths: "/query/7\n/query/0\n/query/4095" },
])("answers come out as they went in, in order: %o", (layout) => {
  const headers = { "content-type": "application/json" };
  const seated = [
    seat(7, { status: 200, headers, body: Buffer.from('{"a":"ä"}'), tookMs: 1.25 }),
    seat(0, { status: 503, headers: {}, body: Buffer.alloc(0), tookMs: 0 }),
    seat(4095, { status: 429, headers, body: Buffer.from("x".repeat(100_000)), tookMs: 30_000 }),
  ];
  const reader = new AnswerReader(packAnswers(seated, layout));
  expect(readAll(reader)).toEqual(seated.map(({ seat, answer }) => [seat, answer]));
  expect(reader.next(() => expect.unreachable())).toBe(false);
});

test("of the headers those go along that are read, each set of them once", () => {
  const body = Buffer.from("{}");
  const of = (headers: Answer["headers"]): Answer => ({ status: 429, headers, body });
  const packed = packAnswers([
    seat(0, of({ "retry-after": ["1", "2"], date: "today", server: "x" })),
    seat(1, of({ "x-ratelimit-reset": "3", date: "tomorrow" })),
    seat(2, of({ "retry-after": ["1", "2"], date: "some day" })),
  ]);
  expect(packed.headers).toEqual(['{"retry-after":["1","2"]}', '{"x-ratelimit-reset":"3"}']);
  const headers = readAll(new AnswerReader(packed)).map(([, answer]) => answer.headers);
  expect(headers).toEqual([
    { "retry-after": ["1", "2"] },
    { "x-ratelimit-reset": "3" },
    { "retry-after": ["1", "2"] },
  ]);
});

test("a type alone goes along as it is, whichever came before", () => {
  const body = Buffer.from("{}");
  const types = ["application/json", "text/html", "application/json"];
  const packed = packAnswers([
    ...types.map((type, n) => seat(n, { status: 200, headers: { "content-type": type }, body })),
    seat(3, { status: 429, headers: { "content-type": "text/html", "retry-after": "1" }, body }),
    seat(4, { status: 200, headers: {}, body }),
  ]);
  expect(readAll(new AnswerReader(packed)).map(([, { headers }]) => headers)).toEqual([
    ...types.map((type) => ({ "content-type": type })),
    { "content-type": "text/html", "retry-after": "1" },
    {},
  ]);
});

test("no answers are no answers", () => {
  expect(readAll(new AnswerReader(packAnswers([])))).toEqual([]);
});

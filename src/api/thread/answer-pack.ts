import type { Answer, ResponseHeaders } from "../types.js";
import type { Arrivals } from "./messages.js";

/** Numbers before the bodies, for each answer: seat, status, index of its headers, where its body begins, its length. */
const fields = 5;
const bytesEach = fields * Int32Array.BYTES_PER_ELEMENT;

/** An answer and the seat that it belongs to. */
export interface SeatedAnswer {
  readonly seat: number;
  readonly answer: Answer;
}

/**
 * The headers that are read of an answer once its body is there. The others stay behind: they would
 * cost as much as the body.
 */
const read = [
  "content-type",
  "retry-after",
  "ratelimit",
  "ratelimit-policy",
  "ratelimit-remaining",
  "ratelimit-reset",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];

/** Puts answers into one buffer, which crosses to another thread without a copy of its own. */
export function packAnswers(
  seated: readonly SeatedAnswer[],
): Pick<Arrivals, "answers" | "count" | "headers"> {
  const bodies = seated.reduce((bytes, { answer }) => bytes + answer.body.length, 0);
  const answers = new ArrayBuffer(seated.length * bytesEach + bodies);
  const numbers = new Int32Array(answers, 0, seated.length * fields);
  const bytes = new Uint8Array(answers);
  const headers: string[] = [];
  let field = 0;
  let end = seated.length * bytesEach;
  for (const { seat, answer } of seated) {
    const { body } = answer;
    numbers[field++] = seat;
    numbers[field++] = answer.status;
    numbers[field++] = indexOf(headers, readHeaders(answer.headers));
    numbers[field++] = end;
    numbers[field++] = body.length;
    bytes.set(body, end);
    end += body.length;
  }
  return { answers, count: seated.length, headers };
}

/** Reads the answers of a buffer one after the other; bodies are views of it. */
export class AnswerReader {
  readonly #arrivals: Arrivals;
  readonly #numbers: Int32Array;
  readonly #headers: readonly ResponseHeaders[];
  #at = 0;

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals;
    this.#numbers = new Int32Array(arrivals.answers, 0, arrivals.count * fields);
    this.#headers = arrivals.headers.map((json) => JSON.parse(json) as ResponseHeaders);
  }

  /** Hands over the next one; false when there is none. */
  next(take: (seat: number, answer: Answer) => void): boolean {
    if (this.#at >= this.#numbers.length) return false;
    const seat = this.#number(0);
    const status = this.#number(1);
    const headers = this.#headers[this.#number(2)] ?? {};
    const body = Buffer.from(this.#arrivals.answers, this.#number(3), this.#number(4));
    this.#at += fields;
    take(seat, { status, headers, body });
    return true;
  }

  #number(field: number): number {
    return this.#numbers[this.#at + field] ?? 0;
  }
}

function readHeaders(headers: ResponseHeaders): string {
  const kept: Record<string, string | string[]> = {};
  for (const name of read) {
    const value = headers[name];
    if (value !== undefined) kept[name] = value;
  }
  return JSON.stringify(kept);
}

function indexOf(texts: string[], text: string): number {
  const index = texts.lastIndexOf(text);
  return index === -1 ? texts.push(text) - 1 : index;
}

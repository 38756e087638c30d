import type { Answer, ResponseHeaders } from "../types.js";
import type { AnswerPack } from "./messages.js";

/**
 * Numbers before the bodies, for each answer: seat, status, index of its headers, where its body
 * begins, its length, microseconds that it took.
 */
const fields = 6;
const bytesEach = fields * Int32Array.BYTES_PER_ELEMENT;

/** Bytes of the numbers of so many answers. */
export function numberBytes(count: number): number {
  return count * bytesEach;
}

/** An answer and the seat that it belongs to. */
export interface SeatedAnswer {
  readonly seat: number;
  readonly path: string;
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
] as const;

/** Where the parts of a pack are. */
export interface PackLayout {
  /** Bytes left free at the beginning, a multiple of four. */
  readonly headBytes: number;
  /** Paths, one a line, in the order of the answers; behind the numbers. Empty to leave them out. */
  readonly paths: string;
}

/** Puts answers into one buffer, which crosses to another thread without a copy of its own. */
export function packAnswers(
  seated: readonly SeatedAnswer[],
  { headBytes, paths }: PackLayout = { headBytes: 0, paths: "" },
): AnswerPack {
  const bodies = seated.reduce((bytes, { answer }) => bytes + answer.body.length, 0);
  const pathsAt = headBytes + numberBytes(seated.length);
  const answers = new ArrayBuffer(pathsAt + paths.length + bodies);
  const numbers = new Int32Array(answers, headBytes, seated.length * fields);
  const bytes = Buffer.from(answers);
  const headers: string[] = [];
  bytes.write(paths, pathsAt, "latin1");
  let field = 0;
  let end = pathsAt + paths.length;
  for (const { seat, answer } of seated) {
    const { body } = answer;
    numbers[field++] = seat;
    numbers[field++] = answer.status;
    numbers[field++] = indexOf(headers, readHeaders(answer.headers));
    numbers[field++] = end;
    numbers[field++] = body.length;
    numbers[field++] = Math.round(1000 * (answer.tookMs ?? 0));
    bytes.set(body, end);
    end += body.length;
  }
  return { answers, offset: headBytes, count: seated.length, headers };
}

/** Reads the answers of a buffer one after the other; bodies are views of it. */
export class AnswerReader {
  readonly #pack: AnswerPack;
  readonly #numbers: Int32Array;
  readonly #headers: readonly ResponseHeaders[];
  #at = 0;

  constructor(pack: AnswerPack) {
    this.#pack = pack;
    this.#numbers = new Int32Array(pack.answers, pack.offset, pack.count * fields);
    this.#headers = pack.headers.map((json) => JSON.parse(json) as ResponseHeaders);
  }

  /** Where the numbers end. */
  get end(): number {
    return this.#numbers.byteOffset + this.#numbers.byteLength;
  }

  /** Hands over the next one; false when there is none. */
  next(take: (seat: number, answer: Answer) => void): boolean {
    if (this.#at >= this.#numbers.length) return false;
    const seat = this.#number(0);
    const status = this.#number(1);
    const headers = this.#headers[this.#number(2)] ?? {};
    const body = Buffer.from(this.#pack.answers, this.#number(3), this.#number(4));
    const tookMs = this.#number(5) / 1000;
    this.#at += fields;
    take(seat, { status, headers, body, tookMs });
    return true;
  }

  #number(field: number): number {
    return this.#numbers[this.#at + field] ?? 0;
  }
}

/** The headers of nearly all answers: a type, and nothing else that is read. */
let usual: { type: string | string[]; json: string } = { type: "", json: '{"content-type":""}' };

function readHeaders(headers: ResponseHeaders): string {
  const type = headers["content-type"];
  // Named one by one: V8 finds such a member at once, where a name from a list costs 0.1 µs each.
  const rare =
    headers["retry-after"] ??
    headers["ratelimit"] ??
    headers["ratelimit-policy"] ??
    headers["ratelimit-remaining"] ??
    headers["ratelimit-reset"] ??
    headers["x-ratelimit-remaining"] ??
    headers["x-ratelimit-reset"];
  if (type === undefined || rare !== undefined) return jsonOf(headers);
  if (type !== usual.type) usual = { type, json: jsonOf(headers) };
  return usual.json;
}

function jsonOf(headers: ResponseHeaders): string {
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

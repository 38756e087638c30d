import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { abortable } from "../../../src/core/abort.js";

/** Two values, then silence. */
async function* silent(): AsyncGenerator<number> {
  yield* [1, 2];
  await new Promise(() => undefined);
}

async function* three(ended: string[]): AsyncGenerator<number> {
  try {
    yield* [1, 2, 3];
  } finally {
    ended.push("closed");
  }
}

async function valuesOf(values: AsyncIterable<number>, most = Infinity): Promise<number[]> {
  const found: number[] = [];
  for await (const value of values) {
    found.push(value);
    if (found.length === most) break;
  }
  return found;
}

test("passes values on, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await valuesOf(abortable(three([]), signal))).toEqual([1, 2, 3]);
  expect(await valuesOf(abortable(three([])))).toEqual([1, 2, 3]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("closes the values if it is left early", async () => {
  const ended: string[] = [];
  expect(await valuesOf(abortable(three(ended), new AbortController().signal), 2)).toEqual([1, 2]);
  expect(ended).toEqual(["closed"]);
});

test("ends with the signal's reason while the next value never comes", async () => {
  const controller = new AbortController();
  const found: number[] = [];
  const reading = (async () => {
    for await (const value of abortable(silent(), controller.signal)) {
      found.push(value);
      if (value === 2) queueMicrotask(() => controller.abort(new Error("enough")));
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(found).toEqual([1, 2]);
});

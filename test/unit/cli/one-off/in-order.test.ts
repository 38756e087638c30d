import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inOrder } from "../../../../src/cli/one-off/in-order.js";

function gate<T>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open: (value) => open(value) };
}

test("results are handed on in the order of the items, however the work ends", async () => {
  const handed: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (item: string) =>
    new Promise<string>((resolve) => ends.set(item, () => resolve(item)));
  const done = inOrder(["a", "b", "c"], 10, work, (result) => void handed.push(result));
  await turn();
  for (const item of ["c", "b", "a"]) ends.get(item)?.();
  await done;
  expect(handed).toEqual(["a", "b", "c"]);
});

test("a result is handed on before the next item is there", async () => {
  const handed: string[] = [];
  const more = gate<null>();
  async function* items() {
    yield "a";
    await more.opened;
    yield "b";
  }
  const done = inOrder(
    items(),
    10,
    (item) => Promise.resolve(item),
    (r) => void handed.push(r),
  );
  await turn();
  expect(handed).toEqual(["a"]);
  more.open(null);
  await done;
});

test("takes no more items than the bound while the first is under way", async () => {
  let taken = 0;
  const first = gate<number>();
  const work = (n: number) => (taken++, n === 0 ? first.opened : Promise.resolve(n));
  const done = inOrder(
    Array.from({ length: 20 }, (_, n) => n),
    4,
    work,
    () => undefined,
  );
  await turn();
  expect(taken).toBe(4);
  first.open(0);
  await done;
});

test("fails with what an item failed with", async () => {
  const work = (n: number) => (n === 1 ? Promise.reject(new Error("no")) : Promise.resolve(n));
  await expect(inOrder([0, 1, 2], 10, work, () => undefined)).rejects.toThrow("no");
});

test("hands nothing on behind an item that failed", async () => {
  const handed: number[] = [];
  const work = (n: number) => (n === 1 ? Promise.reject(new Error("no")) : Promise.resolve(n));
  await inOrder([0, 1, 2], 10, work, (n) => void handed.push(n)).catch(() => undefined);
  expect(handed).toEqual([0]);
});

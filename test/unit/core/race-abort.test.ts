import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortGroups, raceAbort } from "../../../src/core/abort.js";

test("resolves like the promise and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
  await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("rejects with the signal's reason and closes a value that comes late", async () => {
  const controller = new AbortController();
  const closed: string[] = [];
  let resolve: (value: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => (resolve = settle));
  const raced = raceAbort(promise, controller.signal, (late) => closed.push(late));
  controller.abort(new Error("enough"));
  await expect(raced).rejects.toThrow("enough");
  resolve("late");
  await promise;
  expect(closed).toEqual(["late"]);
});

test("needs one listener for all races that share their groups", () => {
  const { signal } = new AbortController();
  const aborts = new AbortGroups();
  for (let n = 0; n < 50; n++)
    void raceAbort(new Promise(() => undefined), signal, undefined, aborts);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
});

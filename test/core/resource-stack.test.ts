import { expect, it } from "vitest";
import { ResourceStack, withResources } from "../../src/core/resource-stack.js";

it("closes resources newest first", async () => {
  const closed: string[] = [];
  await withResources((stack) => {
    for (const name of ["journal", "cache", "connections"]) stack.defer(() => closed.push(name));
    return Promise.resolve();
  });
  expect(closed).toEqual(["connections", "cache", "journal"]);
});

it("closes every resource even if one fails to close, and throws that failure", async () => {
  const closed: string[] = [];
  const stack = new ResourceStack();
  stack.defer(() => closed.push("first"));
  stack.use({ close: () => Promise.reject(new Error("disk full")) });
  stack.defer(() => closed.push("last"));
  await expect(stack.close()).rejects.toThrow("disk full");
  expect(closed).toEqual(["last", "first"]);
});

it("closes resources opened before the work failed, and throws the work's error", async () => {
  let isClosed = false;
  const work = withResources((stack) => {
    stack.defer(() => {
      isClosed = true;
      throw new Error("also this");
    });
    return Promise.reject(new Error("the work"));
  });
  await expect(work).rejects.toThrow("the work");
  expect(isClosed).toBe(true);
});

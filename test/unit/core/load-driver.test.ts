import { expect, it } from "vitest";
import { loadDriver } from "../../../src/core/load-driver.js";

const fault = (message: string, code?: string): Error =>
  Object.assign(new Error(message), { code });

it("returns the loaded module", async () => {
  expect(await loadDriver("a-driver", () => Promise.resolve("driver"))).toBe("driver");
});

it.each(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"])(
  "says how to install a missing package (%s)",
  async (code) => {
    const loading = loadDriver("a-driver", () => Promise.reject(fault("Cannot find", code)));
    await expect(loading).rejects.toMatchObject({
      code: "driver_missing",
      message: "this needs the package a-driver",
      hint: "install it with: npm install a-driver",
    });
  },
);

it("says why a package cannot be loaded", async () => {
  const loading = loadDriver("a-driver", () => Promise.reject(fault("GLIBC_2.99 not found")));
  await expect(loading).rejects.toMatchObject({
    code: "driver_unusable",
    message: expect.stringContaining("GLIBC_2.99 not found"),
  });
});

import { defineConfig } from "vitest/config";

const inCi = process.env["CI"] === "true";

/** Longer and random versions of tests in the main suite. */
export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts"],
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi ? ["default", ["json", { outputFile: ".out/reports/long.json" }]] : ["default"],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    // One at a time: what they measure or wait for must not depend on each other.
    maxWorkers: 1,
  },
});

import { defineConfig } from "vitest/config";
import { builtSources } from "./test/helpers/built-sources.js";
import { CrashPointsFirst } from "./test/helpers/crash-points-first.js";

const inCi = process.env["CI"] === "true";

/** Long rounds: every crash point, many random damages. */
export default defineConfig({
  resolve: builtSources.resolve,
  test: {
    ...builtSources.test,
    include: ["test/**/*.long.test.ts"],
    sequence: { sequencer: CrashPointsFirst },
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi ? ["default", ["json", { outputFile: ".out/reports/long.json" }]] : ["default"],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
  },
});

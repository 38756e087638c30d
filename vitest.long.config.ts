import { defineConfig } from "vitest/config";
import { builtSources } from "./test/helpers/built-sources.js";
import { CrashPointsFirst } from "./test/helpers/crash-points-first.js";
import { testsWith } from "./test/helpers/tests-with.js";

const inCi = process.env["CI"] === "true";

/** Long rounds: every crash point, many random damages, all rounds of properties. */
export default defineConfig({
  resolve: builtSources.resolve,
  test: {
    ...builtSources.test,
    setupFiles: [...builtSources.test.setupFiles, "test/helpers/property-seed.ts"],
    include: ["test/**/*.long.test.ts", ...testsWith("randomRounds(")],
    env: { TEST_ALL_ROUNDS: "true" },
    sequence: { sequencer: CrashPointsFirst },
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi ? ["default", ["json", { outputFile: ".out/reports/long.json" }]] : ["default"],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
  },
});

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const inCi = process.env["CI"] === "true";

export default defineConfig({
  test: {
    include: ["test/{unit,contract,property,fault,cli,samples}/**/*.test.ts"],
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi
      ? ["default", ["json", { outputFile: ".out/reports/tests.json" }]]
      : ["default"],
    // Most tests wait for a program or a server; with one worker two cores would stand half idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

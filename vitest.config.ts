import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const inCi = process.env["CI"] === "true";

/** Tests that replace a module for all who import it. */
const replacing = [
  "test/cli/{terminal-widths,workers-ends}.test.ts",
  "test/unit/store/journal/{journal-full,journal-partial-writes,record-log-disk}.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi
      ? ["default", ["json", { outputFile: ".out/reports/tests.json" }]]
      : ["default"],
    // Most tests wait for a program or a server; with one worker two cores would stand half idle.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["test/{unit,contract,property,fault,cli,samples,docs}/**/*.test.ts"],
          exclude: replacing,
          // Modules are loaded once for each worker, which saves half of the processor's time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "replaced modules", include: replacing } },
    ],
  },
});

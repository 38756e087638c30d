import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { builtSources } from "./test/helpers/built-sources.js";
import { testsWith } from "./test/helpers/tests-with.js";

const inCi = process.env["CI"] === "true";

/** Tests that replace a module for all who import it. */
const replacing = testsWith("vi.mock(");

export default defineConfig({
  test: {
    globalSetup: [
      "test/helpers/memory-folder.ts",
      "test/helpers/own-state-folder.ts",
      "test/helpers/build-once.ts",
    ],
    reporters: inCi
      ? ["default", ["json", { outputFile: ".out/reports/tests.json" }]]
      : ["default"],
    // Most tests wait for a program or a server; with two workers, two cores would stand half idle.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        resolve: builtSources.resolve,
        test: {
          ...builtSources.test,
          setupFiles: [...builtSources.test.setupFiles, "test/helpers/property-seed.ts"],
          name: "tests",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{long,servers}.test.ts", ...replacing],
          // Modules are loaded once for each worker, which saves half of the processor's time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "replaced modules", include: replacing } },
    ],
  },
});

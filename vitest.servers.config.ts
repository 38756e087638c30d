import { defineConfig } from "vitest/config";
import { builtSources } from "./test/helpers/built-sources.js";
import { CrashPointsFirst } from "./test/helpers/crash-points-first.js";

const inCi = process.env["CI"] === "true";

/** Tests against real servers and the real kernel, which start what they need themselves. */
export default defineConfig({
  resolve: builtSources.resolve,
  test: {
    ...builtSources.test,
    include: ["test/**/*.servers.test.ts"],
    sequence: { sequencer: CrashPointsFirst },
    globalSetup: ["test/helpers/own-state-folder.ts", "test/helpers/build-once.ts"],
    reporters: inCi
      ? ["default", ["json", { outputFile: ".out/reports/servers.json" }]]
      : ["default"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Each has servers, a network and disks of its own; most of the time they wait.
    maxWorkers: 3,
  },
});

import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, expect, vi } from "vitest";
import { runRepute, type RunReputeOptions } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { secret, startObjectStore } from "./object-store.js";

/** The sample with 24 rows. */
export const indicators = fileURLToPath(
  new URL("../../../../samples/indicators.csv", import.meta.url),
);

export const done = { code: 0, stderr: "" };

/** Starts a store for the tests of a file, without faults at the start of each. */
export async function objectTests() {
  const store = await startObjectStore();
  let [cwd, number] = ["", 0];
  afterAll(() => store.close());
  beforeEach(async () => {
    cwd = await temporaryFolder();
    number++;
    for (const [name, value] of Object.entries(store.env)) vi.stubEnv(name, value);
    store.fault = () => null;
    store.pageSize = null;
    store.tellsChecksums = true;
    store.requests.length = 0;
  });
  afterEach(() => vi.unstubAllEnvs());
  /** Runs the program, by default in the test's folder. No output may show the secret. */
  const repute = async (args: readonly string[], options: RunReputeOptions = {}) => {
    const result = await runRepute(args, { cwd, env: store.env, ...options });
    expect(result.stdout + result.stderr).not.toContain(secret);
    return result;
  };
  const flags = ["--local", "--quiet", "--fail-on", "never"];
  return {
    store,
    repute,
    /** Enriches with the embedded service. */
    enrich: (input: string, out: string, ...more: readonly string[]) =>
      repute(["enrich", input, "-o", out, ...flags, ...more]),
    /** A folder of each test's own. */
    get cwd() {
      return cwd;
    },
    /** A key that no other test has. */
    get key() {
      return `key-${number}`;
    },
  };
}

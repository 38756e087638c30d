import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import {
  runRepute,
  type RunReputeOptions,
  type RunReputeResult,
} from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { type ObjectStoreServer, secret, startObjectStore } from "./object-store.js";

/** The sample with 24 rows. */
export const indicators = fileURLToPath(
  new URL("../../../../samples/indicators.csv", import.meta.url),
);

export const done = { code: 0, stderr: "" };

/** What a test with objects needs. */
export interface ObjectTests {
  /** One for all tests of a file, without faults at the start of each. */
  readonly store: ObjectStoreServer;
  /** A folder of the test's own. */
  readonly cwd: string;
  /** A key that no other test has. */
  readonly key: string;
  /** Runs the program, by default in the test's folder. No output may show the secret. */
  readonly repute: (
    args: readonly string[],
    options?: RunReputeOptions,
  ) => Promise<RunReputeResult>;
  /** Enriches with the embedded service. */
  readonly enrich: (
    input: string,
    out: string,
    ...flags: readonly string[]
  ) => Promise<RunReputeResult>;
}

/** Starts a store for the tests of a file, and calls `before` before each of them. */
export function useObjectStore(before: (tests: ObjectTests) => void): void {
  let store: ObjectStoreServer;
  let number = 0;
  beforeAll(async () => {
    store = await startObjectStore();
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    const cwd = await temporaryFolder();
    for (const [name, value] of Object.entries(store.env)) vi.stubEnv(name, value);
    store.fault = () => null;
    store.pageSize = null;
    store.tellsChecksums = true;
    store.requests.length = 0;
    const repute: ObjectTests["repute"] = async (args, options = {}) => {
      const result = await runRepute(args, { cwd, env: store.env, ...options });
      expect(result.stdout + result.stderr).not.toContain(secret);
      return result;
    };
    const flags = ["--local", "--quiet", "--fail-on", "never"];
    before({
      store,
      cwd,
      key: `key-${number++}`,
      repute,
      enrich: (input, out, ...more) => repute(["enrich", input, "-o", out, ...flags, ...more]),
    });
  });
  afterEach(() => vi.unstubAllEnvs());
}

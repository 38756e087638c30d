import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, expect, vi } from "vitest";
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

/** What tests with objects need. */
export interface ObjectTests {
  /** One for all tests of a file, without faults at the start of each. */
  readonly store: ObjectStoreServer;
  /** A folder of each test's own. */
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

/** Starts a store for the tests of a file. */
export async function objectTests(): Promise<ObjectTests> {
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
  const repute: ObjectTests["repute"] = async (args, options = {}) => {
    const result = await runRepute(args, { cwd, env: store.env, ...options });
    expect(result.stdout + result.stderr).not.toContain(secret);
    return result;
  };
  const flags = ["--local", "--quiet", "--fail-on", "never"];
  return {
    store,
    repute,
    enrich: (input, out, ...more) => repute(["enrich", input, "-o", out, ...flags, ...more]),
    get cwd() {
      return cwd;
    },
    get key() {
      return `key-${number}`;
    },
  };
}

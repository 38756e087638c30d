import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chooseAddress, withSession } from "../../src/cli/sessions.js";
import type { GivenSetting, GivenSettings } from "../../src/cli/options/settings.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { fakeContext } from "./fake-context.js";
import { runInProcess } from "./run-in-process.js";

test("the embedded service requires and receives the key from a file named by a flag", async () => {
  const path = join(await temporaryFolder(), "key");
  await writeFile(path, "named-key\n", { mode: 0o600 });
  const file = { value: path, level: "flag", name: "--api-key-file" } as const;
  const call = {
    settings: { local: true, retries: 0, timeout: 1000 },
    given: new Map([["apiKeyFile", file]]),
    context: fakeContext({ env: { REPUTE_API_KEY: "key of a real service" } }),
  };
  await withSession("intel", call, async ({ service: intel }) => {
    const headers = { "x-api-key": intel.credential ?? "" };
    const statuses = [
      (await fetch(`${intel.url}/query/192.0.2.1`)).status,
      (await fetch(`${intel.url}/query/192.0.2.1`, { headers })).status,
    ];
    expect([intel.credential, statuses]).toEqual(["named-key", [403, 200]]);
  });
});

test.each([
  ["query", "192.0.2.1", "--local", "--api-key-file"],
  ["customers", "--local", "--access-token-file"],
])("a missing secret file is an error when a flag names it: %s %s", async (...args) => {
  const { code, stdout, stderr } = await runInProcess([...args, "no-such-file"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(
    /^repute: cannot read no-such-file, the .* file \(.*-file\): no such file\n/,
  );
});

test.each(["plan", "enrich"])("%s refuses --local beside --intel-url", async (command) => {
  const args = ["samples/indicators.csv", "--local", "--intel-url", "http://127.0.0.1:9/beta"];
  const { code, stderr } = await runInProcess([command, ...args]);
  const message = "--local and --intel-url exclude each other";
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

const url = "https://intel.example/beta";

function given(places: Record<string, GivenSetting["level"]>): GivenSettings {
  return new Map(
    Object.entries(places).map(([key, level]) => [
      key,
      { value: null, level, name: `${level} ${key}` },
    ]),
  );
}

test.each([
  ["intel", /--intel-url.*REPUTE_INTEL_URL.*--config.*--local/],
  ["ops", /--ops-url URL, REPUTE_OPS_URL/],
  ["case", /--case-url URL, REPUTE_CASE_URL/],
] as const)("no address for %s is an error that names the ways to set one", (service, hint) => {
  const other = service === "intel" ? {} : { intelUrl: url };
  expect(() => chooseAddress(service, { local: false, ...other }, given({}))).toThrow(
    expect.objectContaining({
      code: `${service}_url_missing`,
      hint: expect.stringMatching(hint) as string,
    }),
  );
});

test("both at one level are an error that names both", () => {
  const places = given({ local: "flag", intelUrl: "flag" });
  expect(() => chooseAddress("intel", { local: true, intelUrl: url }, places)).toThrow(
    "flag local and flag intelUrl exclude each other",
  );
});

test.each([
  ["flag", null],
  ["file", url],
] as const)("local as a %s beside an address in the environment: %s", (level, chosen) => {
  const places = given({ local: level, intelUrl: "variable" });
  expect(chooseAddress("intel", { local: true, intelUrl: url }, places)).toBe(chosen);
});

test.each([
  ["--intel-url", "query", "https://me:s3cret@intel.example/beta", "a user name or password"],
  ["--ops-url", "customers", "https://ops.example/?s3cret", "a query (?…)"],
])("%s with more than an address is refused, and not shown", async (flag, command, url, what) => {
  const { code, stderr } = await runInProcess([command, flag, url]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} must not have ${what}`)]);
  expect(stderr).not.toContain("s3cret");
});

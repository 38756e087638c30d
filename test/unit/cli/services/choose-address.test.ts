import { expect, test } from "vitest";
import { chooseAddress } from "../../../../src/cli/services/services.js";
import type { GivenSettings, SettingLevel } from "../../../../src/cli/options/settings.js";

const url = "https://intel.example/beta";

function given(places: Record<string, SettingLevel>): GivenSettings {
  return new Map(
    Object.entries(places).map(([key, level]) => [
      key,
      { value: null, level, name: `${level} ${key}` },
    ]),
  );
}

test("uses the address", () => {
  expect(chooseAddress("intel", { local: false, intelUrl: url }, given({ intelUrl: "flag" }))).toBe(
    url,
  );
});

test("--local selects the embedded service", () => {
  expect(chooseAddress("intel", { local: true }, given({ local: "flag" }))).toBeNull();
});

test("neither is an error that names the ways to set one", () => {
  expect(() => chooseAddress("intel", { local: false }, given({}))).toThrow(
    expect.objectContaining({
      code: "intel_url_missing",
      hint: expect.stringMatching(/--intel-url.*REPUTE_INTEL_URL.*--config.*--local/) as string,
    }),
  );
});

test("both at one level are an error that names both", () => {
  const places = given({ local: "flag", intelUrl: "flag" });
  expect(() => chooseAddress("intel", { local: true, intelUrl: url }, places)).toThrow(
    "flag local and flag intelUrl exclude each other",
  );
});

test("--local on the command line overrides an address in the environment", () => {
  const places = given({ local: "flag", intelUrl: "variable" });
  expect(chooseAddress("intel", { local: true, intelUrl: url }, places)).toBeNull();
});

test("an address in the environment overrides local in the file", () => {
  const places = given({ local: "file", intelUrl: "variable" });
  expect(chooseAddress("intel", { local: true, intelUrl: url }, places)).toBe(url);
});

test("an address with a password is refused and not shown", () => {
  const choice = { local: false, intelUrl: "https://me:pass-123@intel.example/beta" };
  const error = thrownBy(() => chooseAddress("intel", choice, given({ intelUrl: "flag" })));
  expect(error).toMatchObject({ code: "credential_in_address" });
  expect(String(error)).not.toContain("pass-123");
});

test.each([
  ["intel", "intelUrl", "https://intel.example/beta?key=s3cret"],
  ["intel", "intelUrl", "https://intel.example/beta#s3cret"],
  ["ops", "opsUrl", "https://ops.example/?s3cret"],
  ["case", "caseUrl", "https://cases.example?s3cret"],
] as const)("an address of %s with a query or fragment is refused", (service, key, address) => {
  const choice = { local: false, [key]: address };
  const error = thrownBy(() => chooseAddress(service, choice, given({ [key]: "flag" })));
  expect(error).toMatchObject({
    code: `${service}_url_query`,
    message: `flag ${key} must not have a query or fragment`,
  });
  expect(String(error)).not.toContain("s3cret");
});

test.each([
  ["ops", "--ops-url", "REPUTE_OPS_URL"],
  ["case", "--case-url", "REPUTE_CASE_URL"],
] as const)("the address of %s has its own flag and variable", (service, flag, variable) => {
  const error = thrownBy(() => chooseAddress(service, { local: false, intelUrl: url }, given({})));
  expect(error).toMatchObject({
    code: `${service}_url_missing`,
    hint: expect.stringMatching(`${flag} URL, ${variable}`) as string,
  });
});

test("each service is chosen on its own", () => {
  const choice = { local: true, intelUrl: url, opsUrl: "https://ops.example" };
  const places = given({ local: "variable", intelUrl: "flag", opsUrl: "file" });
  expect([chooseAddress("intel", choice, places), chooseAddress("ops", choice, places)]).toEqual([
    url,
    null,
  ]);
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

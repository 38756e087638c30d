import { expect, test } from "vitest";
import { chooseService } from "../../../src/cli/intel-service.js";
import type { GivenSettings, SettingLevel } from "../../../src/cli/settings.js";

const url = "https://intel.example/beta";

function given(places: Record<string, SettingLevel>): GivenSettings {
  return new Map(
    Object.entries(places).map(([key, level]) => [
      key,
      { value: null, level, name: `${level} ${key}` },
    ]),
  );
}

test("an address is asked", () => {
  expect(chooseService({ local: false, intelUrl: url }, given({ intelUrl: "flag" }))).toBe(url);
});

test("--local is the embedded service", () => {
  expect(chooseService({ local: true }, given({ local: "flag" }))).toBeNull();
});

test("neither is an error that names the ways to give one", () => {
  expect(() => chooseService({ local: false }, given({}))).toThrow(
    expect.objectContaining({
      code: "intel_url_missing",
      hint: expect.stringMatching(/--intel-url.*REPUTE_INTEL_URL.*--config.*--local/) as string,
    }),
  );
});

test("both in one place are an error that names both", () => {
  const places = given({ local: "flag", intelUrl: "flag" });
  expect(() => chooseService({ local: true, intelUrl: url }, places)).toThrow(
    "flag local and flag intelUrl exclude each other",
  );
});

test("--local on the command line beats an address in the environment", () => {
  const places = given({ local: "flag", intelUrl: "variable" });
  expect(chooseService({ local: true, intelUrl: url }, places)).toBeNull();
});

test("an address in the environment beats local in the file", () => {
  const places = given({ local: "file", intelUrl: "variable" });
  expect(chooseService({ local: true, intelUrl: url }, places)).toBe(url);
});

test("an address with a password is refused and not shown", () => {
  const choice = { local: false, intelUrl: "https://me:pass-123@intel.example/beta" };
  const error = thrownBy(() => chooseService(choice, given({ intelUrl: "flag" })));
  expect(error).toMatchObject({ code: "credential_in_address" });
  expect(String(error)).not.toContain("pass-123");
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

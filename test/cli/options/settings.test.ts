import { describe, expect, test } from "vitest";
import { UsageError } from "../../../src/core/errors.js";
import {
  loadSettings,
  type GivenSettings,
  type SettingLevel,
} from "../../../src/cli/options/settings.js";
import { enrichOptions } from "../../../src/jobs/enrich/options.js";

function given(level: SettingLevel, values: Record<string, unknown>): GivenSettings {
  const inFile = '"x" in repute.json';
  const name = { flag: "--x", variable: "REPUTE_X", profile: inFile, file: inFile }[level];
  return new Map(Object.entries(values).map(([key, value]) => [key, { value, level, name }]));
}

function load(...levels: GivenSettings[]) {
  return loadSettings(enrichOptions, levels);
}

function messageOf(levels: GivenSettings[]): string {
  try {
    load(...levels);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
  }
  return "no UsageError";
}

test("a flag overrides a variable, which overrides a profile, which overrides the file", () => {
  const { settings } = load(
    given("flag", { retries: "1" }),
    given("variable", { retries: "2", concurrency: "2" }),
    given("profile", { retries: 3, concurrency: 3, partialRetries: 3 }),
    given("file", { retries: 4, concurrency: 4, partialRetries: 4, timeout: "4s" }),
  );
  expect([
    settings.retries,
    settings.concurrency,
    settings.partialRetries,
    settings.timeout,
  ]).toEqual([1, 2, 3, 4000]);
});

describe("a wrong value", () => {
  test.each([
    [
      "intelUrl",
      "https://intel.example/beta?key=s3cret",
      '--x must not have a query (?…); end it with the path; got "https://intel.example/beta?…"',
    ],
    [
      "intelUrl",
      "https://intel.example/beta#",
      '--x must not have a fragment (#…); end it with the path; got "https://intel.example/beta#"',
    ],
    ["retries", "many", '--x must be a whole number; got "many"'],
    ["retries", "-1", '--x must be a whole number; got "-1"'],
    ["concurrency", "0", '--x must be at least 1; got "0"'],
    ["concurrency", "9999", '--x must be at most 4096; got "9999"'],
    ["timeout", "0s", '--x must be from 1ms to 24h; got "0s"'],
    ["timeout", "30d", '--x must be from 1ms to 24h; got "30d"'],
    ["timeout", "5", '--x must be a number and a unit (ms, s, m, h, d), such as 30s; got "5"'],
    ["timeout", "-1h", '--x must not be negative; got "-1h"'],
    ["rate", "5", '--x must be a count and a window, such as 100/s, 600/m or 10000/d; got "5"'],
    [
      "lookups",
      "quick",
      '--x must not contain the unknown lookup "quick" (did you mean quick-check?); got "quick"',
    ],
    ["intelUrl", "intel", '--x must be an http:// or https:// address; got "intel"'],
    ["itemColumn", "", '--x must not be empty; got ""'],
  ])("of %s gets a message with the allowed values", (key, value, message) => {
    expect(messageOf([given("flag", { [key]: value })])).toBe(message);
  });

  test("that resembles an allowed word gets a suggestion", () => {
    expect(messageOf([given("flag", { from: "ndjsn" })])).toMatch(/\(did you mean ndjson\?\)$/);
  });

  test("in the environment names the variable", () => {
    expect(messageOf([given("variable", { retries: "x" })])).toMatch(/^REPUTE_X must be/);
  });

  test("never shows the password in an address", () => {
    const message = messageOf([given("flag", { intelUrl: "ftp://me:secret@intel.example/beta" })]);
    expect(message).not.toContain("secret");
  });

  test("is shortened when it is long", () => {
    expect(messageOf([given("flag", { retries: "x".repeat(5000) })]).length).toBeLessThan(200);
  });
});

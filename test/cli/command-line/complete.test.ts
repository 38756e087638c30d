import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { complete } from "../../../src/cli/command-line/yargs-parser.js";

beforeEach(() => void vi.stubEnv("SHELL", "/bin/bash"));
afterEach(() => void vi.unstubAllEnvs());

/** Candidates for the end of a typed line; a space at the end begins a new word. */
async function candidates(line: string): Promise<readonly string[]> {
  return (await complete(line.split(" "))).split("\n").slice(0, -1);
}

test.each([
  ["repute ", ["enrich", "quick-check", "tags", "worker", "help", "version"], ["list", "--help"]],
  ["repute tags ", ["list", "show", "ips", "export"], ["enrich", "help"]],
  [
    "repute enrich --",
    ["--no-header", "--item-column", "--help"],
    ["--header", "--o", "--latency"],
  ],
  ["repute tags ips --", ["--plain", "--rate"], ["--item-column"]],
  ["repute enrich --quiet --", ["--json"], ["--quiet"]],
])("%s offers what may follow", async (line, some, none) => {
  const found = await candidates(line);
  expect(found).toEqual(expect.arrayContaining(some));
  expect(found.filter((word) => none.includes(word))).toEqual([]);
});

test.each([
  ["repute enrich --bogons ", ["ask", "local"]],
  ["repute enrich in.csv --bogons l", ["local"]],
  ["repute completion ", ["bash", "zsh", "fish"]],
  ["repute enrich ", []],
  ["repute enrich --config ", []],
  ["repute enrich -o ", []],
  ["repute verify a", []],
])("%s offers the allowed values, and leaves file names to the shell", async (line, values) => {
  expect(await candidates(line)).toEqual(values);
});

test("describes each candidate for zsh and fish", async () => {
  vi.stubEnv("SHELL", "/bin/zsh");
  expect(await candidates("repute ver")).toContainEqual(expect.stringMatching(/^verify:\w/));
  vi.stubEnv("SHELL", "fish");
  expect(await candidates("repute enrich --qu")).toContainEqual(
    expect.stringMatching(/^--quiet\t\w/),
  );
});

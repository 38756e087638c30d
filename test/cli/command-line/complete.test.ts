import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { complete } from "../../../src/cli/command-line/complete.js";
import { commandNames, groups, loadCommand } from "../../../src/cli/command-list.js";
import { optionSpecs } from "../../../src/cli/options/option-spec.js";

beforeEach(() => void vi.stubEnv("SHELL", "/bin/bash"));
afterEach(() => void vi.unstubAllEnvs());

/** Candidates for the end of a typed line; a space at the end begins a new word. */
async function candidates(line: string): Promise<readonly string[]> {
  return (await complete(line.split(" "))).split("\n").slice(0, -1);
}

const topWords = [
  ...commandNames.filter((name) => !name.includes(" ")),
  ...groups.map(({ name }) => name),
];

test("offers commands, groups, help and version as the first word", async () => {
  expect((await candidates("repute ")).toSorted()).toEqual(
    [...topWords, "help", "version"].toSorted(),
  );
});

test.each(groups.map(({ name }) => name))("offers the commands of %s", async (group) => {
  const members = commandNames.filter((name) => name.startsWith(`${group} `));
  expect(await candidates(`repute ${group} `)).toEqual(
    members.map((name) => name.slice(group.length + 1)),
  );
});

test.each(commandNames)("offers every flag of %s", async (name) => {
  const command = await loadCommand(name);
  const specs = command === null ? [] : optionSpecs(command.options);
  const flags = specs.map(({ flag, isNegated }) => `--${isNegated ? "no-" : ""}${flag}`);
  expect((await candidates(`repute ${name} --`)).toSorted()).toEqual(
    [...flags, "--help"].toSorted(),
  );
});

test("leaves out a flag that is already given", async () => {
  expect(await candidates("repute enrich --quiet --")).not.toContain("--quiet");
});

test.each([
  ["repute enrich --bogons ", ["ask", "local"]],
  ["repute enrich in.csv --bogons l", ["ask", "local"]],
  ["repute enrich --bogons = l", ["ask", "local"]],
  ["repute enrich --bogons =", ["ask", "local"]],
  ["repute enrich --bogons=l", ["--bogons=ask", "--bogons=local"]],
  ["repute completion ", ["bash", "zsh", "fish"]],
])("%s offers the allowed values", async (line, values) => {
  expect(await candidates(line)).toEqual(values);
});

test.each(["repute enrich ", "repute enrich --config ", "repute enrich -o ", "repute verify a"])(
  "%s leaves file names to the shell",
  async (line) => {
    expect(await candidates(line)).toEqual([]);
  },
);

test("describes each candidate for zsh and fish", async () => {
  vi.stubEnv("SHELL", "/bin/zsh");
  expect(await candidates("repute ver")).toContainEqual(expect.stringMatching(/^verify:\w/));
  vi.stubEnv("SHELL", "fish");
  expect(await candidates("repute enrich --qu")).toContainEqual(
    expect.stringMatching(/^--quiet\t\w/),
  );
});

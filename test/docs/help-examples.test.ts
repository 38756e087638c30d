import { expect, test } from "vitest";
import { checkOperands } from "../../src/cli/command.js";
import { loadCommands } from "../../src/cli/command-list.js";
import { readLine } from "../../src/cli/command-line/parse-arguments.js";
import { loadSettings } from "../../src/cli/options/settings.js";
import { shellWords } from "./shell-session.js";

const commands = await loadCommands();

/** The calls of repute in an example, which may be a pipe, a list or a substitution. */
function callsIn(example: string): readonly (readonly string[])[] {
  const plain = example.replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll(/[|&]/g, "_"));
  const parts = plain.split(/\|\|?|&&|>>?|<\(|\)/);
  return parts.map(shellWords).filter(([program]) => program === "repute");
}

const examples = commands.flatMap(({ name, examples }) =>
  Object.keys(examples).map((example) => [example, name] as const),
);

test.each(examples)("%s is accepted", async (example, name) => {
  const names: string[] = [];
  for (const [, ...args] of callsIn(example)) {
    const { command, asks, flags, operands, fault } = await readLine(args);
    if (command === null) throw new Error(`${args.join(" ")} is no call of a command`);
    names.push(command.name);
    expect([asks, fault, loadSettings(command.options, [flags]).fault]).toEqual([null, null, null]);
    expect(() => checkOperands(command, operands)).not.toThrow();
  }
  expect(names).toContain(name);
});

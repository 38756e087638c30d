import { describe, expect, test } from "vitest";
import { helpText } from "../../../src/cli/command-line/help.js";
import { optionSpecs, writtenFlag } from "../../../src/cli/options/settings.js";
import { commandNames, groups, loadCommands } from "../../../src/cli/command-list.js";

const commands = await loadCommands();

/** Flags that a help lists, as written. */
const flagsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2,6}(?:-\w, )?(--[\w-]+.*?)(?=$| {2})/gm)].map(([, flag = ""]) => flag);

test("the program's help names every command once, on a line of 80 columns", async () => {
  const help = await helpText(null, commands, 80);
  const named = [...help.matchAll(/^ {2}(\w[\w -]*?) {2,}(.+)$/gm)].map(([, ...line]) => line);
  const own = named.filter(([name = ""]) => !name.startsWith("repute "));
  expect(own).toEqual(commands.map(({ name, summary }) => [name, summary]));
  expect(help.match(/^ {2}repute /gm)).toHaveLength(3);
  expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("every command has its own name, and those of two words belong to a group", () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
  const firsts = commandNames.filter((name) => name.includes(" ")).map((n) => n.split(" ")[0]);
  expect([...new Set(firsts)]).toEqual(groups.map(({ name }) => name));
});

describe.each(commands.map((command) => [command.name, command] as const))(
  "the help of %s",
  (_, topic) => {
    test("lists every flag once, and two or three examples on a line each", async () => {
      const help = await helpText(topic, commands, 80);
      const flags = optionSpecs(topic.options).map(writtenFlag);
      expect(flagsIn(help).toSorted()).toEqual(flags.toSorted());
      const examples = Object.keys(topic.examples);
      expect([2, 3]).toContain(examples.length);
      for (const line of examples) expect(help).toContain(`\n  ${line}\n`);
    });

    test.each([40, 80, 100])("fits a width of %i, but for commands to copy", async (width) => {
      const lines = (await helpText(topic, commands, width)).split("\n");
      const prose = lines.filter((line) => !line.includes("repute ") && /\S \S/.test(line));
      expect(prose.filter((line) => line.length > width)).toEqual([]);
    });
  },
);

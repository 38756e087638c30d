import { describe, expect, test } from "vitest";
import type { Command, CommandGroup } from "../../../src/cli/command.js";
import { helpText } from "../../../src/cli/command-line/help.js";
import { optionSpecs, writtenFlag } from "../../../src/cli/options/option-spec.js";
import { commandNames, groups, loadCommand, loadCommands } from "../../../src/cli/command-list.js";

const commands = await loadCommands();

const helpOf = (topic: Command | CommandGroup | null, width = 80): string =>
  helpText({ topic, brief: false }, commands, width);

test("loads each command under its own name", async () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
  for (const command of commands) await expect(loadCommand(command.name)).resolves.toBe(command);
  await expect(loadCommand("tags")).resolves.toBeNull();
});

test("the program's help names every command once, on a line of 80 columns, and few to start with", () => {
  const lines = helpOf(null).split("\n");
  const named = commands.map(({ name }) => lines.filter((line) => line.startsWith(`  ${name} `)));
  expect(named.filter((found) => found.length !== 1)).toEqual([]);
  expect(named.flat().map((line) => line.trim().replace(/^.*? {2,}/, ""))).toEqual(
    commands.map(({ summary }) => summary),
  );
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.filter((line) => line.startsWith("  repute "))).toHaveLength(3);
});

test("the help of enrich groups its flags and ends with the rare ones", () => {
  const help = helpOf(commands[0]!);
  const titles = [...help.matchAll(/^(\w[\w ]+):$/gm)].map(([, title]) => title);
  const [flags, end] = [titles.indexOf("Input"), titles.indexOf("Exit codes")];
  expect(titles[end - 1]).toBe("Advanced");
  expect(end - flags).toBeLessThan(12);
  const [, rare = ""] = /\nAdvanced:\n(.*?)\n\n/s.exec(help) ?? [];
  const listed = [...rare.matchAll(/^ {2,6}(?:-\w, )?--(?:no-)?([\w-]+)/gm)].map(
    ([, flag = ""]) => flag,
  );
  const specs = optionSpecs(commands[0]!.options).filter((spec) => spec.rare);
  expect(listed.toSorted()).toEqual(specs.map(({ flag }) => flag).toSorted());
});

test("every command of two words belongs to a group", () => {
  const firsts = commands
    .filter(({ name }) => name.includes(" "))
    .map(({ name }) => name.split(" ")[0]);
  expect([...new Set(firsts)]).toEqual(groups.map(({ name }) => name));
});

describe.each(commands.map((command) => [command.name, command] as const))(
  "help of %s",
  (_, command) => {
    const help80 = helpOf(command);

    test("has every option in exactly one group", () => {
      const grouped = Object.values(command.groups).flatMap(Object.keys);
      expect(grouped.toSorted()).toEqual(Object.keys(command.options.shape).toSorted());
    });

    test("lists every flag once", () => {
      const listed = help80.match(/^ {2,6}(?:-\w, )?--[\w-]+.*?(?=$| {2})/gm) ?? [];
      const flags = listed.map((line) => line.trim().replace(/^-\w, /, ""));
      expect(flags.toSorted()).toEqual(optionSpecs(command.options).map(writtenFlag).toSorted());
    });

    test("has two to six examples of the command itself", () => {
      const examples = Object.keys(command.examples);
      const own = examples.filter((line) => line.includes(`repute ${command.name}`));
      expect(own.length).toBe(examples.length);
      expect([2, 3, 4, 5, 6]).toContain(own.length);
    });

    test.each([40, 80, 100])("prose fits a width of %i", (width) => {
      const lines = helpOf(command, width).split("\n");
      // A command to copy stands on one line, however long.
      const prose = lines.filter((line) => !line.includes("repute ") && /\S \S/.test(line));
      expect(prose.filter((line) => line.length > width)).toEqual([]);
    });

    test("-h lists at most 15 flags, and two examples", () => {
      const help = helpText({ topic: command, brief: true }, commands, 80);
      const flags = help.match(/^ {2,6}(?:-\w, )?--\w/gm) ?? [];
      const total = optionSpecs(command.options).length;
      expect(flags.length).toBe(total > 15 ? Math.min(flags.length, 15) : total);
      expect(flags.length > 0 || total === 0).toBe(true);
      const [, examples = ""] = help.split("\nExamples:\n");
      expect(examples.match(/^ {2}\S/gm)).toHaveLength(2);
    });
  },
);

test("enrich -h lists the 14 most used of its flags", () => {
  const [enrich = null] = commands;
  const help = helpText({ topic: enrich, brief: true }, commands, 80);
  const flags = [...help.matchAll(/^ {2,6}(?:-\w, )?--([\w-]+)/gm)].map(([, flag]) => flag);
  expect(flags).toHaveLength(14);
  expect(flags).toEqual(
    expect.arrayContaining(["output", "item-column", "rate", "resume", "cache"]),
  );
});

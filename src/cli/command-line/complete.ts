import yargs, { type Argv } from "yargs";
import {
  commandNamed,
  commandNames,
  groups,
  loadCommand,
  loadCommands,
  membersOf,
} from "../command-list.js";
import { type Command, completionFlag } from "../command.js";
import { optionSpecs } from "../options/option-spec.js";

/**
 * Lists completions for the end of a command line, one candidate a line: commands, flags, values of
 * a flag. Nothing where a file is expected. yargs adds descriptions when `SHELL` is zsh or fish.
 *
 * @param words from the program's name to the word under the cursor, which may be empty
 */
export async function complete(words: readonly string[]): Promise<string> {
  const { before, current, prefix } = splitWords(words.slice(1));
  const name = commandNamed(before, commandNames);
  const command = await loadCommand(name);
  const isFlag = current.startsWith("-");
  if (!isFlag && command?.operandChoices) return linesOf(command.operandChoices);
  const tree = commandTree(command === null ? await loadCommands() : [command]);
  if (before.length === 0) {
    tree.command("help", "explain the program or a command");
    tree.command("version", "print the version");
  }
  let found = "";
  const asked = [completionFlag, "repute", ...before, isFlag ? "--" : ""];
  await tree.parse(asked, (_error: unknown, _argv: unknown, output: string) => {
    if (output !== "") found = output;
  });
  const lines = found.split("\n").filter((line) => line !== "" && line.startsWith("-") === isFlag);
  return linesOf(lines.map((line) => prefix + line));
}

/** A parser that knows commands, groups and flags. */
function commandTree(commands: readonly Command[]): Argv {
  const program = yargs().scriptName("repute").locale("en").version(false).exitProcess(false);
  for (const command of commands) {
    if (!command.name.includes(" ")) addCommand(program, command);
  }
  for (const { name, summary } of groups) {
    const members = membersOf(name, commands);
    program.command(name, summary, (parser) => members.reduce(addCommand, parser));
  }
  return program.help("help", "Explain everything");
}

function addCommand(parser: Argv, { name, summary, options }: Command): Argv {
  return parser.command(name.split(" ").at(-1) ?? name, summary, (own) => {
    for (const { flag, isNegated, isSwitch, choices, description } of optionSpecs(options)) {
      own.option(isNegated ? `no-${flag}` : flag, {
        type: isSwitch ? "boolean" : "string",
        describe: description,
        ...(choices.length === 0 ? {} : { choices }),
      });
    }
    return own;
  });
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Splits off the word under the cursor, and the flag from its value in `--flag=value`. */
function splitWords(words: readonly string[]) {
  const typed = words[0] === "help" && words.length > 1 ? words.slice(1) : words;
  const last = typed.at(-1) ?? "";
  const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(last) ?? [];
  if (flag !== undefined && value !== undefined) {
    return { before: [...typed.slice(0, -1), flag], current: value, prefix: `${flag}=` };
  }
  // bash gives `=` as a word of its own.
  const before = typed.slice(0, -1).filter((word) => word !== "=");
  return { before, current: last === "=" ? "" : last, prefix: "" };
}

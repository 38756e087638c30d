import yargs, { type Arguments, type Argv } from "yargs";
import type { Command, CommandGroup } from "../command.js";

/** How a yargs parser treats the commands it knows. */
export interface CommandVisitor {
  /** Declares the flags of a command. */
  readonly declare: (parser: Argv, command: Command) => Argv;
  /** Takes the parsed line of a command, or of a group whose command is missing or unknown. */
  readonly visit: (found: Command | CommandGroup, argv: Arguments) => void;
}

/** Builds the yargs parser of the program: commands, groups and `--help` and `--version` of each. */
export function commandTree(
  commands: readonly Command[],
  groups: readonly CommandGroup[],
  visitor: CommandVisitor,
): Argv {
  const program = yargs()
    .scriptName("repute")
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .fail(false)
    .recommendCommands()
    .parserConfiguration({
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "strip-aliased": true,
    });
  for (const command of commands) {
    if (!command.name.includes(" ")) addCommand(program, command, visitor);
  }
  for (const group of groups) {
    program.command({
      command: group.name,
      describe: group.summary,
      builder: (parser) =>
        membersOf(group.name, commands).reduce(
          (argv, command) => addCommand(argv, command, visitor),
          parser,
        ),
      handler: (argv) => visitor.visit(group, argv),
    });
  }
  return program;
}

/** The commands of a group. */
export function membersOf(group: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${group} `));
}

function addCommand(parser: Argv, command: Command, { declare, visit }: CommandVisitor): Argv {
  return parser.command({
    command: command.name.split(" ").at(-1) ?? command.name,
    describe: command.summary,
    builder: (argv) => declare(argv, command),
    handler: (argv) => visit(command, argv),
  });
}

import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { Command, CommandGroup } from "../command.js";

/** What the first words of a command line name. */
export type FoundCommand =
  | { readonly is: "command"; readonly command: Command; readonly words: number }
  | { readonly is: "group"; readonly group: CommandGroup };

/**
 * Finds the command that the first words name: `enrich`, `tags list`. The name of a group alone, or
 * with `--help` behind it, is the group.
 *
 * @throws UsageError for words that name none
 */
export function findCommand(
  words: readonly string[],
  commands: readonly Command[],
  groups: readonly CommandGroup[] = [],
): FoundCommand {
  const [first = "", second] = words;
  const named = commandNamed(
    words,
    commands.map(({ name }) => name),
  );
  const command = commands.find(({ name }) => name === named);
  if (command) return { is: "command", command, words: command.name.split(" ").length };
  const group = groups.find(({ name }) => name === first);
  if (!group) throw unknownCommand(first, commands, groups);
  if (second === undefined || second === "--help" || second === "-h") return { is: "group", group };
  throw unknownMember(second, group.name, membersOf(group.name, commands));
}

/** The commands of a group. */
export function membersOf(group: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${group} `));
}

/** Which of the names of commands and groups a command line begins with; null for none. */
export function commandNamed(words: readonly string[], names: readonly string[]): string | null {
  const two = words.slice(0, 2).join(" ");
  const [first = ""] = words;
  return names.find((name) => name === two) ?? names.find((name) => name === first) ?? null;
}

function unknownCommand(
  word: string,
  commands: readonly Command[],
  groups: readonly CommandGroup[],
): UsageError {
  if (word.startsWith("-")) return commandMissing(word, commands[0]?.name ?? "COMMAND");
  const single = commands.map(({ name }) => name).filter((name) => !name.includes(" "));
  const names = [...single, ...groups.map(({ name }) => name)];
  // A joined or misplaced spelling of a command of a group: `tags-list`.
  const member = commands.find(({ name }) => name === word.replaceAll(/[-_:]/g, " "));
  const meant = didYouMean(word, names) ?? member?.name;
  return new UsageError("unknown_command", `there is no command ${JSON.stringify(word)}`, {
    hint:
      meant === undefined
        ? `the commands are ${names.join(", ")}; a file is read by: repute enrich FILE`
        : `did you mean ${meant}?`,
  });
}

function unknownMember(word: string, group: string, members: readonly Command[]): UsageError {
  if (word.startsWith("-")) return commandMissing(word, members[0]?.name ?? group);
  const names = members.map(({ name }) => name.slice(group.length + 1));
  const meant = didYouMean(word, names);
  const hint =
    meant === null
      ? `the commands of ${group} are ${names.join(", ")}`
      : `did you mean ${group} ${meant}?`;
  const what = JSON.stringify(`${group} ${word}`);
  return new UsageError("unknown_command", `there is no command ${what}`, { hint });
}

function commandMissing(flag: string, example: string): UsageError {
  return new UsageError("command_missing", `${flag} stands where the command should be`, {
    hint: `the command comes first: repute ${example} ${flag} …`,
  });
}

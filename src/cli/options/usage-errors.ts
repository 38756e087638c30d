import { existsSync } from "node:fs";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { Command, CommandGroup } from "../command.js";
import { membersOf } from "./command-tree.js";
import { type OptionSpec, optionSpecs } from "./option-spec.js";
import { secretHint, secretNamed } from "./secrets.js";

/** The command line that flags belong to, for error messages. */
export interface CommandLine {
  /** As typed. */
  readonly args: readonly string[];
  readonly command: Command;
  /** The command's own options. */
  readonly specs: readonly OptionSpec[];
  readonly commands: readonly Command[];
}

/** Explains a word that names no command, or a flag in front of the command. */
export function unknownCommand(
  word: string,
  commands: readonly Command[],
  groups: readonly CommandGroup[],
): UsageError {
  if (word.startsWith("-")) return commandMissing(word, commands[0]?.name ?? "COMMAND");
  const single = commands.map(({ name }) => name).filter((name) => !name.includes(" "));
  const names = [...single, ...groups.map(({ name }) => name)];
  // The two words of a command joined or separated otherwise: `tags-list`.
  const member = commands.find(({ name }) => name === word.replaceAll(/[-_:]/g, " "));
  const meant = didYouMean(word, names) ?? member?.name;
  return new UsageError("unknown_command", `there is no command ${JSON.stringify(word)}`, {
    hint:
      meant === undefined
        ? `the commands are ${names.join(", ")}; to enrich a file: repute enrich FILE`
        : `did you mean ${meant}?`,
  });
}

/** Explains a word after a group's name that names none of its commands. */
export function unknownMember(
  word: string,
  group: string,
  commands: readonly Command[],
): UsageError {
  const members = membersOf(group, commands);
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

/** Explains a flag that the command doesn't have. */
export function unknownFlag(
  flag: string,
  { args, command, specs, commands }: CommandLine,
): UsageError {
  const written = asWritten(flag, args);
  const secret = secretNamed(flag);
  if (secret) {
    return new UsageError("secret_as_flag", `${written} does not exist: a secret is never a flag`, {
      hint: secretHint("other users can read a command line", secret),
    });
  }
  const owners = commands.filter(({ options }) =>
    optionSpecs(options).some((spec) => spec.flag === flag),
  );
  const message = `${command.name} has no flag ${written}`;
  const file = args.find((arg) => arg.startsWith("-") && existsSync(arg));
  if (file !== undefined) {
    return new UsageError("unknown_flag", message, {
      hint: `for the file of that name: ./${file}`,
    });
  }
  if (owners.length > 0) {
    const names = owners.map(({ name }) => `repute ${name}`).join(", ");
    return new UsageError("unknown_flag", message, { hint: `it is a flag of: ${names}` });
  }
  const candidates = specs.flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const meant = didYouMean(written.replace(/^--?/, ""), candidates);
  const options = meant === null ? {} : { hint: `did you mean --${meant}?` };
  return new UsageError("unknown_flag", message, options);
}

/** The flag as typed, without its value: `--no-foo`, `-x`. */
function asWritten(flag: string, args: readonly string[]): string {
  const spellings = flag.length === 1 ? [`-${flag}`] : [`--${flag}`, `--no-${flag}`];
  return (
    spellings.find((s) => args.some((arg) => arg === s || arg.startsWith(`${s}=`))) ??
    spellings[0] ??
    flag
  );
}

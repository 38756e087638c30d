import { existsSync } from "node:fs";
import { didYouMean } from "../../core/text/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { Command } from "../command.js";
import { commandNames, groups, loadCommands } from "../command-list.js";
import { optionSpecs } from "../options/option-spec.js";
import { secretHint, secretNamed } from "../options/secrets.js";

/** Explains words that name no command, or a flag in front of the command. */
export function unknownCommand([first = "", second = ""]: readonly string[]): UsageError {
  const group = groups.find(({ name }) => name === first)?.name;
  const word = group === undefined ? first : second;
  const prefix = group === undefined ? "" : `${group} `;
  const known = [...commandNames, ...groups.map(({ name }) => name)];
  const names = known
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((name) => !name.includes(" "));
  if (word.startsWith("-")) return commandMissing(word, `${prefix}${names[0] ?? "COMMAND"}`);
  const near = didYouMean(word, names);
  // The two words of a command joined or separated otherwise: `tags-list`.
  const spelled = `${prefix}${word}`.toLowerCase().replaceAll(/[-_:]/g, " ");
  const meant = near === null ? known.find((name) => name === spelled) : `${prefix}${near}`;
  const [whose, enrich] =
    group === undefined ? ["", "; to enrich a file: repute enrich FILE"] : [` of ${group}`, ""];
  const what = JSON.stringify(`${prefix}${word}`);
  return new UsageError("unknown_command", `there is no command ${what}`, {
    hint:
      meant === undefined
        ? `the commands${whose} are ${names.join(", ")}${enrich}`
        : `did you mean ${meant}?`,
  });
}

function commandMissing(flag: string, example: string): UsageError {
  return new UsageError("command_missing", `${flag} stands where the command should be`, {
    hint: `the command comes first: repute ${example} ${flag} …`,
  });
}

/** Explains a flag that the command doesn't have. */
export async function unknownFlag(
  flag: string,
  args: readonly string[],
  command: Command,
): Promise<UsageError> {
  const written = asWritten(flag, args);
  const secret = secretNamed(flag);
  if (secret) {
    return new UsageError("secret_as_flag", `${written} does not exist: a secret is never a flag`, {
      hint: secretHint("other users can read a command line", secret),
    });
  }
  const owners = (await loadCommands()).filter(({ options }) =>
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
  const candidates = optionSpecs(command.options).flatMap((spec) =>
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

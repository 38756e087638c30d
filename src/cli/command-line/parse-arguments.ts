import { existsSync } from "node:fs";
import { UsageError } from "../../core/errors.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import type { Command } from "../command.js";
import { commandNamed, commandNames, groups, loadCommand, loadCommands } from "../command-list.js";
import { type YargsLine, parseByYargs } from "./program.js";
import { secretHint, secretNamed } from "../options/secrets.js";
import type { HelpRequest } from "./help.js";
import { type OptionSpec, optionSpecs } from "../options/option-spec.js";
import type { GivenSetting, GivenSettings } from "../options/settings.js";

/** A command line as yargs reads it. Values are not checked. */
export interface TypedLine extends Pick<YargsLine, "flags" | "fault"> {
  /** As typed, but `help NAME` is `NAME --help`. */
  readonly args: readonly string[];
  readonly command: Command | null;
  readonly operands: readonly string[];
}

/** What the command line asks for. */
type ParsedArguments =
  | ({ readonly action: "help" } & HelpRequest)
  | { readonly action: "version" }
  | {
      readonly action: "run";
      readonly command: Command;
      readonly flags: GivenSettings;
      readonly operands: readonly string[];
    };

/** Reads the command line. Values stay text: the command's schema checks them. */
export async function readLine(typed: readonly string[]): Promise<TypedLine> {
  const args = typed[0] === "help" && typed.length > 1 ? [...typed.slice(1), "--help"] : typed;
  const command = await loadCommand(commandNamed(args, commandNames));
  const { flags, words, fault } = parseByYargs(separated(args, command), command);
  return {
    args,
    command,
    flags,
    operands: words.slice(command?.name.split(" ").length ?? 0),
    fault,
  };
}

/** Puts `=` into `-oFILE`, which yargs takes for the flags o, F, I, L and E. */
function separated(args: readonly string[], command: Command | null): readonly string[] {
  const specs = optionSpecs(command?.options ?? { shape: {} });
  const letters = specs.map(({ isSwitch, alias }) => (isSwitch ? "" : (alias ?? ""))).join("");
  const joined = new RegExp(`^-([${letters}])(?=[^=])`);
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.map((arg, at) => (at > end ? arg : arg.replace(joined, "-$1=")));
}

const versionWords = new Set(["--version", "-V", "-v", "version"]);

/**
 * Tells what a command line asks for.
 *
 * @throws UsageError for an unknown command or flag, and for a flag given twice or without its value
 */
export async function parseArguments(line: TypedLine): Promise<ParsedArguments> {
  const { args, command, flags, operands } = line;
  const [first = "help", second = "help"] = args;
  if (versionWords.has(first)) return { action: "version" };
  const isBrief = flags["h"] === true && flags["help"] !== true;
  if (command === null) {
    const group = groups.find(({ name }) => name === first) ?? null;
    const word = group === null ? first : second;
    if (!["--help", "-h", "help"].includes(word)) throw unknownCommand(args);
    return { action: "help", topic: group, brief: isBrief };
  }
  if (flags["help"] === true || isBrief) return { action: "help", topic: command, brief: isBrief };
  if (flags["version"] === true) return { action: "version" };
  const given = await checkFlags(line, command);
  if (given.size === 0 && operands.join(" ") === "help" && !existsSync("help")) {
    return { action: "help", topic: command, brief: false };
  }
  return { action: "run", command, flags: given, operands };
}

/** @throws UsageError for a flag that is unknown, lacks its value or is given twice */
async function checkFlags(line: TypedLine, command: Command): Promise<GivenSettings> {
  if (line.fault !== null) throw await explained(line.fault, line.args, command);
  const given = new Map<string, GivenSetting>();
  for (const spec of optionSpecs(command.options)) {
    const { flag } = spec;
    const value = line.flags[flag];
    if (value === undefined) continue;
    const checked = spec.isSwitch
      ? checkedSwitch(spec, value, line.args)
      : checkedText(spec, value);
    given.set(spec.key, { value: checked, level: "flag", name: `--${flag}` });
  }
  return given;
}

/** What yargs says of a line, in words for people. */
async function explained(
  fault: string,
  args: readonly string[],
  command: Command,
): Promise<UsageError> {
  const [, named = ""] = /: ([^,]+)/.exec(fault) ?? [];
  if (fault.startsWith("Unknown")) return unknownFlag(named, args, command);
  const lacking = optionSpecs(command.options).find(
    ({ flag, alias }) => flag === named || alias === named,
  );
  const { flag, placeholder } = lacking!;
  return new UsageError("flag_without_value", `--${flag} needs a value`, {
    hint: `write --${flag} ${placeholder}, or --${flag}=VALUE for a value that begins with a dash`,
  });
}

/** yargs reads any value but true as false. */
function checkedSwitch(spec: OptionSpec, value: unknown, args: readonly string[]): unknown {
  const { flag } = spec;
  const typed = args.find((arg) => arg.startsWith(`--${flag}=`))?.slice(flag.length + 3);
  if (typed === undefined || typed === "true" || typed === "false") return value;
  throw new UsageError(
    "invalid_setting",
    `--${flag} takes no value; got ${JSON.stringify(typed)}`,
    { hint: `write --${flag} or --no-${flag}` },
  );
}

function checkedText(
  { flag, placeholder, repeats }: OptionSpec,
  value: unknown,
): string | readonly string[] {
  if (value === false) {
    throw new UsageError("flag_not_negatable", `--no-${flag} does not exist`, {
      hint: `--${flag} takes a value: --${flag} ${placeholder}`,
    });
  }
  const values = [value].flat().map(String);
  if (values.length > 1 && repeats === "list") return values;
  if (values.length === 1 || repeats !== false) return values.join(",");
  throw new UsageError(
    "flag_twice",
    `--${flag} is given ${values.length} times: ${values.join(", ")}`,
    { hint: "give it once" },
  );
}

/** Explains words that name no command, or a flag in front of the command. */
function unknownCommand([first = "", second = ""]: readonly string[]): UsageError {
  const group = groups.find(({ name }) => name === first)?.name;
  const word = group === undefined ? first : second;
  const prefix = group === undefined ? "" : `${group} `;
  const names = [...commandNames, ...groups.map(({ name }) => name)]
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((name) => group !== undefined || !name.includes(" "));
  if (word.startsWith("-")) {
    const meant = didYouMean(word, ["--version", "--help"]);
    if (meant !== null) {
      const message = `there is no flag ${word}`;
      return new UsageError("unknown_flag", message, { hint: `did you mean ${meant}?` });
    }
    const message = `${word} stands where the command should be`;
    return new UsageError("command_missing", message, {
      hint: `the command comes first: repute ${prefix}${names[0]} ${word} …`,
    });
  }
  const near = didYouMean(word, names);
  const enrich = group === undefined ? "; to enrich a file: repute enrich FILE" : "";
  const message = `there is no command ${JSON.stringify(prefix + word)}`;
  return new UsageError("unknown_command", message, {
    hint:
      near === null
        ? `the commands${group === undefined ? "" : ` of ${group}`} are ${names.join(", ")}${enrich}`
        : `did you mean ${prefix}${near}?`,
  });
}

/** Explains a flag that the command doesn't have. */
async function unknownFlag(
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
  return new UsageError("unknown_flag", `${command.name} has no flag ${written}`, {
    hint: await flagMeant(flag, written, args, command),
  });
}

async function flagMeant(
  flag: string,
  written: string,
  args: readonly string[],
  command: Command,
): Promise<string | null> {
  const file = args.find((arg) => arg.startsWith("-") && existsSync(arg));
  if (file !== undefined) return `for the file of that name: ./${file}`;
  const owners = (await loadCommands()).filter(({ options }) =>
    optionSpecs(options).some((spec) => spec.flag === flag),
  );
  if (owners.length > 0) {
    return `it is a flag of: ${owners.map(({ name }) => `repute ${name}`).join(", ")}`;
  }
  const own = optionSpecs(command.options).flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const candidates = [...own, "version", "help"];
  const near = didYouMean(written.replace(/^--?/, ""), candidates);
  return near === null ? null : `did you mean --${near}?`;
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

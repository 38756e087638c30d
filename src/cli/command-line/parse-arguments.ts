import { UsageError } from "../../core/errors.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import type { Command, CommandGroup } from "../command.js";
import { commandNamed, commandNames, groups, loadCommand } from "../command-list.js";
import { type YargsLine, parseByYargs } from "./yargs-parser.js";
import { secretHint, secretNamed } from "../options/secrets.js";
import { type OptionSpec, optionSpecs } from "../options/settings.js";
import type { GivenSetting, GivenSettings } from "../options/settings.js";

/** A command line as yargs reads it. Values are not checked. */
export interface TypedLine extends Pick<YargsLine, "flags" | "fault"> {
  /** As typed, but `help NAME` is `NAME --help`. */
  readonly args: readonly string[];
  readonly command: Command | null;
  readonly operands: readonly string[];
}

type ParsedArguments =
  | {
      readonly action: "help";
      /** What to explain; null for the program. */
      readonly topic: Command | CommandGroup | null;
    }
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
  const { flags, words, fault } = parseByYargs(withEqualsSigns(args, command), command);
  return {
    args,
    command,
    flags,
    operands: words.slice(command?.name.split(" ").length ?? 0),
    fault,
  };
}

/** Writes `-oFILE` as `-o=FILE`: yargs would read the flags o, F, I, L and E. */
function withEqualsSigns(args: readonly string[], command: Command | null): readonly string[] {
  const specs = optionSpecs(command?.options ?? { shape: {} });
  const letters = specs.map(({ isSwitch, alias }) => (isSwitch ? "" : (alias ?? ""))).join("");
  const joined = new RegExp(`^-([${letters}])(?=[^=])`);
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.map((arg, at) => (at > end ? arg : arg.replace(joined, "-$1=")));
}

const versionWords = new Set(["--version", "-V", "-v", "version"]);

/**
 * Decides what to do: print help or the version, or run a command.
 *
 * @throws UsageError for an unknown command or flag, and for a flag given twice or without its value
 */
export function parseArguments(line: TypedLine): ParsedArguments {
  const { args, command, flags, operands } = line;
  const [first = "help", second = "help"] = args;
  if (versionWords.has(first)) return { action: "version" };
  if (command === null) {
    const group = groups.find(({ name }) => name === first) ?? null;
    const word = group === null ? first : second;
    if (!["--help", "-h", "help"].includes(word)) throw unknownCommand(args);
    return { action: "help", topic: group };
  }
  if (flags["help"] === true) return { action: "help", topic: command };
  if (flags["version"] === true) return { action: "version" };
  return { action: "run", command, flags: checkFlags(line, command), operands };
}

/** @throws UsageError for a flag that is unknown, lacks its value or is given twice */
function checkFlags(line: TypedLine, command: Command): GivenSettings {
  if (line.fault !== null) throw explained(line.fault, line.args, command);
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

/** Rewords an error of yargs, and adds a hint. */
function explained(fault: string, args: readonly string[], command: Command): UsageError {
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

/** Refuses `--switch=VALUE`: yargs reads any value but true as false. */
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

function unknownCommand([first = "", second = ""]: readonly string[]): UsageError {
  const group = groups.find(({ name }) => name === first);
  const typed = group === undefined ? first : `${first} ${second}`;
  const all = [...commandNames, ...groups.map(({ name }) => name), "--version", "--help"];
  const names = all.filter((name) =>
    group === undefined ? !name.includes(" ") : name.startsWith(`${first} `),
  );
  const near = didYouMean(typed, names);
  const what = typed.startsWith("-")
    ? `no flag ${typed} without a command`
    : `no command "${typed}"`;
  return new UsageError("unknown_command", `there is ${what}`, {
    hint: near === null ? `use one of ${names.join(", ")}` : `did you mean ${near}?`,
  });
}

function unknownFlag(flag: string, args: readonly string[], command: Command): UsageError {
  const typed = args.map((arg) => arg.split("=", 1)[0] ?? "");
  const written = typed.find((arg) => arg.replace(/^--?(?:no-)?/, "") === flag) ?? `--${flag}`;
  const secret = secretNamed(flag);
  if (secret) {
    return new UsageError("secret_as_flag", `${written} does not exist: a secret is never a flag`, {
      hint: secretHint("other users can read a command line", secret),
    });
  }
  const flags = optionSpecs(command.options).flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const near = didYouMean(written.replace(/^--?/, ""), [...flags, "version", "help"]);
  return new UsageError("unknown_flag", `${command.name} has no flag ${written}`, {
    hint: near === null ? null : `did you mean --${near}?`,
  });
}

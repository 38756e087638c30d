import { existsSync } from "node:fs";
import type { Arguments, Argv } from "yargs";
import { UsageError } from "../../core/errors.js";
import { type Command, type CommandGroup, isCommand } from "../command.js";
import { commandNamed } from "../command-list.js";
import { commandTree } from "./command-tree.js";
import { type OptionSpec, optionSpecs } from "../options/option-spec.js";
import type { GivenSetting, GivenSettings } from "../options/settings.js";
import { type CommandLine, unknownCommand, unknownFlag } from "./usage-errors.js";

/** What the command line asks for. */
export type ParsedArguments =
  | {
      readonly action: "help";
      /** The command or group to explain; null for the program. */
      readonly topic: Command | CommandGroup | null;
      /** Only the most used flags: `-h`. */
      readonly brief: boolean;
    }
  | { readonly action: "version" }
  | {
      readonly action: "run";
      readonly command: Command;
      readonly flags: GivenSettings;
      readonly operands: readonly string[];
    };

const versionWords = new Set(["--version", "-V", "-v", "version"]);

/**
 * Reads the command line. Values stay text: the command's schema checks them.
 *
 * @throws UsageError for an unknown command or flag, and for a flag given twice or without its value
 */
export function parseArguments(
  args: readonly string[],
  commands: readonly Command[],
  groups: readonly CommandGroup[] = [],
): ParsedArguments {
  const [first = "--help", second] = args;
  if (versionWords.has(first)) return { action: "version" };
  if (first === "-h" || first === "--help" || (first === "help" && second === undefined)) {
    return { action: "help", topic: null, brief: first === "-h" };
  }
  const words = first === "help" ? [...args.slice(1), "--help"] : args;
  const name = commandNamed(
    words,
    commands.map((command) => command.name),
  );
  const specs = optionSpecs(
    commands.find((command) => command.name === name)?.options ?? noOptions,
  );
  let parsed: ParsedArguments | null = null;
  const tree = commandTree(commands, groups, {
    declare: declareFlags,
    visit: (found, argv) => {
      parsed = isCommand(found)
        ? parsedCommand(found, argv, { args: words, command: found, specs, commands })
        : groupHelp(found, argv, words);
    },
  });
  // A flag in front of the command would reach the command, had it been written behind it.
  let recommended: string | null = null;
  if (words[0]?.startsWith("-") === false) {
    const line = [...normaliseArguments(words, specs)];
    try {
      tree.parseSync(line);
    } catch (error) {
      recommended = recommendedBy(error);
    }
  }
  if (parsed === null) throw unknownCommand(words, commands, groups, recommended);
  return parsed;
}

/** The command that yargs recommends for an unknown one. @throws any other error */
function recommendedBy(error: unknown): string {
  const [, name] = /^Did you mean (.+)\?$/.exec(error instanceof Error ? error.message : "") ?? [];
  if (name === undefined) throw error;
  return name;
}

const noOptions = { shape: {} };

function parsedCommand(command: Command, argv: Arguments, line: CommandLine): ParsedArguments {
  const { _: words, $0: _program, help, h: briefHelp, version, ...flags } = argv;
  if (help === true || briefHelp === true) {
    return { action: "help", topic: command, brief: help !== true };
  }
  if (version === true) return { action: "version" };
  const operands = words.slice(command.name.split(" ").length).map((w) => restoreDash(String(w)));
  const given = checkFlags(flags, line);
  if (given.size === 0 && operands.join(" ") === "help" && !existsSync("help")) {
    return { action: "help", topic: command, brief: false };
  }
  return { action: "run", command, flags: given, operands };
}

/** The help of a group; null if the second word names no command. */
function groupHelp(
  group: CommandGroup,
  argv: Arguments,
  [, second = "help"]: readonly string[],
): ParsedArguments | null {
  if (!["--help", "-h", "help"].includes(second)) return null;
  return { action: "help", topic: group, brief: argv["h"] === true };
}

/**
 * Declares flags for parsing alone, without descriptions: yargs lays out the help of described flags
 * after every command, which takes 15 ms. `-h` is a flag of its own: it prints less than `--help`.
 */
function declareFlags(parser: Argv, { options }: Command): Argv {
  const specs = optionSpecs(options);
  const named = (isSwitch: boolean): string[] =>
    specs.filter((spec) => spec.isSwitch === isSwitch).map(({ flag }) => flag);
  return parser
    .boolean(["help", "h", "version", ...named(true)])
    .string(named(false))
    .alias("version", ["V", "v"])
    .alias(Object.fromEntries(specs.flatMap(({ flag, alias }) => (alias ? [[flag, alias]] : []))));
}

/** Stands for a lone dash, which yargs would drop. No argument can contain a NUL itself. */
const dash = "\u0000-";

/**
 * Rewrites what yargs would misread: a lone `-` (stdin, stdout) and a value joined to a short flag
 * (`-oFILE`).
 *
 * @throws UsageError for a switch with a value other than true and false, which yargs reads as false,
 *   and for a flag named like a member of every object (`--constructor`), at which yargs fails
 */
function normaliseArguments(
  args: readonly string[],
  specs: readonly OptionSpec[],
): readonly string[] {
  const end = args.indexOf("--");
  const flagsEnd = end === -1 ? args.length : end;
  return args.map((arg, index) => {
    if (arg === "-") return dash;
    if (index >= flagsEnd || !arg.startsWith("-")) return arg;
    return arg.startsWith("--") ? checkFlag(arg, specs) : splitShort(arg, specs);
  });
}

function restoreDash(text: string): string {
  return text === dash ? "-" : text;
}

function checkFlag(arg: string, specs: readonly OptionSpec[]): string {
  const [, name = "", value] = /^--(?:no-)?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
  if (name in Object.prototype) {
    throw new UsageError("unknown_flag", `no command has a flag --${name}`);
  }
  const spec = specs.find((spec) => spec.flag === name);
  if (!spec?.isSwitch || [undefined, "true", "false"].includes(value)) return arg;
  throw new UsageError(
    "invalid_setting",
    `--${spec.flag} takes no value; got ${JSON.stringify(value)}`,
    { hint: `write --${spec.flag} or --no-${spec.flag}` },
  );
}

function splitShort(arg: string, specs: readonly OptionSpec[]): string {
  const spec = specs.find((spec) => spec.alias === arg[1]);
  if (!spec || spec.isSwitch || arg.length === 2 || arg[2] === "=") return arg;
  return `--${spec.flag}=${arg.slice(2)}`;
}

/**
 * Turns parsed flags into settings.
 *
 * @throws UsageError for a flag that is unknown, lacks its value or is given twice
 */
function checkFlags(flags: Readonly<Record<string, unknown>>, line: CommandLine): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const [flag, value] of Object.entries(flags)) {
    const spec = line.specs.find((spec) => spec.flag === flag);
    if (!spec) throw unknownFlag(flag, line);
    given.set(spec.key, {
      value: spec.isSwitch ? value : checkedText(spec, value, line.args),
      level: "flag",
      name: `--${flag}`,
    });
  }
  return given;
}

function checkedText(spec: OptionSpec, value: unknown, args: readonly string[]): string {
  if (Array.isArray(value) && spec.repeats && value.every((one) => one !== "")) {
    return value.map((one) => restoreDash(String(one))).join(",");
  }
  if (Array.isArray(value)) {
    const values = value.map((one) => restoreDash(String(one)));
    throw new UsageError(
      "flag_twice",
      `--${spec.flag} is given ${values.length} times: ${values.join(", ")}`,
      { hint: "give it once" },
    );
  }
  if (value === false) {
    throw new UsageError("flag_not_negatable", `--no-${spec.flag} does not exist`, {
      hint: `--${spec.flag} takes a value: --${spec.flag} ${spec.placeholder ?? "VALUE"}`,
    });
  }
  if (value === "" && !args.includes(`--${spec.flag}=`)) {
    throw new UsageError("flag_without_value", `--${spec.flag} needs a value`, {
      hint: `write --${spec.flag} ${spec.placeholder ?? "VALUE"}, or --${spec.flag}=VALUE for a value that begins with a dash`,
    });
  }
  return restoreDash(String(value));
}

import parser from "yargs-parser";
import type { Arguments, Options } from "yargs-parser";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import { findCommand } from "./find-command.js";
import { optionSpecs } from "./option-spec.js";
import type { Command, CommandGroup } from "../command.js";
import type { OptionSpec } from "./option-spec.js";
import { secretHint, secretNamed } from "./secrets.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

/** What the command line asks for. */
export type ParsedArguments =
  | { readonly wish: "help"; readonly command: Command | null }
  | { readonly wish: "group help"; readonly group: CommandGroup }
  | { readonly wish: "version" }
  | {
      readonly wish: "run";
      readonly command: Command;
      readonly flags: GivenSettings;
      readonly operands: readonly string[];
    };

/**
 * Reads the command line. Values are left as text: the command's schema judges them.
 *
 * @throws UsageError for an unknown command or flag, a flag without its value or given twice
 */
export function parseArguments(
  args: readonly string[],
  commands: readonly Command[],
  groups: readonly CommandGroup[] = [],
): ParsedArguments {
  const [first] = args;
  if (first === undefined || first === "--help" || first === "-h") {
    return { wish: "help", command: null };
  }
  if (first === "--version" || first === "-V") return { wish: "version" };
  const asksHelp = first === "help";
  if (asksHelp && args.length === 1) return { wish: "help", command: null };
  const found = findCommand(asksHelp ? args.slice(1) : args, commands, groups);
  if (found.is === "group") return { wish: "group help", group: found.group };
  const { command } = found;
  if (asksHelp) return { wish: "help", command };
  const specs = optionSpecs(command.options);
  const argv = readFlags(normaliseArguments(args.slice(found.words), specs), specs);
  const { _: operands, help, version, ...flags } = argv;
  if (help === true) return { wish: "help", command };
  if (version === true) return { wish: "version" };
  return {
    wish: "run",
    command,
    flags: checkFlags(flags, { args, command, specs, commands }),
    operands: operands.map((word) => restoreDash(String(word))),
  };
}

/** By yargs' parser alone: yargs itself takes 50 ms to load, for a help that is written here. */
function readFlags(args: readonly string[], specs: readonly OptionSpec[]): Arguments {
  const { argv, error } = parser.detailed([...args], {
    ...parserOptions(specs),
    configuration: {
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "strip-aliased": true,
    },
  });
  if (error !== null) throw new UsageError("arguments_unreadable", error.message);
  return argv;
}

function parserOptions(specs: readonly OptionSpec[]): Options {
  const names = (isSwitch: boolean): string[] =>
    specs.filter((spec) => spec.isSwitch === isSwitch).map(({ flag }) => flag);
  return {
    boolean: ["help", "version", ...names(true)],
    string: names(false),
    alias: {
      help: "h",
      version: "V",
      ...Object.fromEntries(specs.flatMap(({ flag, alias }) => (alias ? [[flag, alias]] : []))),
    },
  };
}

/** Stands for a lone dash while the parser reads: it would lose one. No argument can hold a NUL itself. */
const dash = "\u0000-";

/**
 * Rewrites what yargs' parser would misread: a lone `-` (stdin, stdout) and a value joined to a short flag
 * (`-oFILE`).
 *
 * @throws UsageError for a switch with a value that is neither true nor false, which the parser takes for false
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
    return arg.startsWith("--") ? checkSwitch(arg, specs) : splitShort(arg, specs);
  });
}

/** Gives a lone dash back. */
function restoreDash(text: string): string {
  return text === dash ? "-" : text;
}

function checkSwitch(arg: string, specs: readonly OptionSpec[]): string {
  const [, name, value] = /^--(?:no-)?([^=]+)=(.*)$/s.exec(arg) ?? [];
  const spec = specs.find((spec) => spec.flag === name);
  if (!spec?.isSwitch || value === "true" || value === "false") return arg;
  throw new UsageError(
    "invalid_setting",
    `--${spec.flag} takes no value; got ${JSON.stringify(value)}`,
    {
      hint: `write --${spec.flag} or --no-${spec.flag}`,
    },
  );
}

function splitShort(arg: string, specs: readonly OptionSpec[]): string {
  const spec = specs.find((spec) => spec.alias === arg[1]);
  if (!spec || spec.isSwitch || arg.length === 2 || arg[2] === "=") return arg;
  return `--${spec.flag}=${arg.slice(2)}`;
}

/** What flags are checked against. */
interface FlagSurroundings {
  /** The command line as it was written. */
  readonly args: readonly string[];
  readonly command: Command;
  /** The command's own options. */
  readonly specs: readonly OptionSpec[];
  readonly commands: readonly Command[];
}

/**
 * Turns the flags that the parser found into settings.
 *
 * @throws UsageError for a flag that is unknown, lacks its value or is given twice
 */
function checkFlags(
  flags: Readonly<Record<string, unknown>>,
  around: FlagSurroundings,
): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const [flag, value] of Object.entries(flags)) {
    const spec = around.specs.find((spec) => spec.flag === flag);
    if (!spec) throw unknownFlag(flag, around);
    given.set(spec.key, {
      value: spec.isSwitch ? value : checkedText(spec, value, around.args),
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
    throw new UsageError(
      "flag_twice",
      `--${spec.flag} is given ${value.length} times: ${value.map((v) => restoreDash(String(v))).join(", ")}`,
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
      hint: `write --${spec.flag} ${spec.placeholder ?? "VALUE"}, or --${spec.flag}=VALUE for one that begins with a dash`,
    });
  }
  return restoreDash(String(value));
}

function unknownFlag(flag: string, around: FlagSurroundings): UsageError {
  const written = asWritten(flag, around.args);
  const secret = secretNamed(flag);
  if (secret) {
    return new UsageError("secret_as_flag", `${written} does not exist: a secret is no flag`, {
      hint: secretHint("other users can read a command line", secret),
    });
  }
  const name = written.replace(/^--?/, "");
  const candidates = around.specs.flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const owners = around.commands.filter((command) =>
    optionSpecs(command.options).some((spec) => spec.flag === flag),
  );
  const word = didYouMean(name, candidates);
  const hint =
    owners.length > 0
      ? `it is a flag of: ${owners.map((command) => `repute ${command.name}`).join(", ")}`
      : word === null
        ? null
        : `did you mean --${word}?`;
  return new UsageError(
    "unknown_flag",
    `${around.command.name} has no flag ${written}`,
    hint === null ? {} : { hint },
  );
}

/** The flag as it stands on the command line, without a value: `--no-foo`, `-x`. */
function asWritten(flag: string, args: readonly string[]): string {
  const spellings = flag.length === 1 ? [`-${flag}`] : [`--${flag}`, `--no-${flag}`];
  return (
    spellings.find((s) => args.some((arg) => arg === s || arg.startsWith(`${s}=`))) ??
    spellings[0] ??
    flag
  );
}

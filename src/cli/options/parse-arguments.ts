import parser from "yargs-parser";
import type { Arguments, Options } from "yargs-parser";
import { UsageError } from "../../core/errors.js";
import { checkFlags } from "./check-flags.js";
import { findCommand } from "./find-command.js";
import { normaliseArguments, restoreDash } from "./normalise-arguments.js";
import { optionSpecs } from "./option-spec.js";
import type { Command, CommandGroup } from "../command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSettings } from "./settings.js";

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

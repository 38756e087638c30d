import { UsageError } from "../../core/errors.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import type { Command, CommandGroup } from "../command.js";
import { commandNamed, commandNames, groups, loadCommand } from "../command-list.js";
import { parseByYargs } from "./yargs-parser.js";
import { secretFlag, secretHint } from "../options/secrets.js";
import { type OptionSpec, optionSpecs } from "../options/settings.js";
import type { GivenSetting, GivenSettings } from "../options/settings.js";

/** A command line, as far as it can be read. Values stay text: the command's schema checks them. */
interface CommandLine {
  /** As typed, but `help NAME` is `NAME --help`. */
  readonly args: readonly string[];
  readonly command: Command | null;
  readonly operands: readonly string[];
  /** The well-formed flags, by setting. */
  readonly flags: GivenSettings;
  /** What to print instead of running the command. `helpOn: null` is the help of the program. */
  readonly asks: "version" | { readonly helpOn: Command | CommandGroup | null } | null;
  /** The first fault, such as an unknown command or flag, or a flag given twice or without its value. */
  readonly fault: UsageError | null;
}

export async function readLine(typed: readonly string[]): Promise<CommandLine> {
  const args = typed[0] === "help" && typed.length > 1 ? [...typed.slice(1), "--help"] : typed;
  const command = await loadCommand(commandNamed(args, commandNames));
  const parsed = parseByYargs(withEqualsSigns(args, command), command);
  const operands = parsed.words.slice(command?.name.split(" ").length ?? 0);
  const asks = asked(args, command, parsed.flags);
  const line = { args, command, operands, asks };
  if (command !== null) return { ...line, ...checkFlags(parsed, args, command) };
  return { ...line, flags: new Map(), fault: asks === null ? unknownCommand(args) : null };
}

/** Writes `-oFILE` as `-o=FILE`: yargs would read the flags o, F, I, L and E. */
function withEqualsSigns(args: readonly string[], command: Command | null): readonly string[] {
  const specs = optionSpecs(command?.options ?? { shape: {} });
  const letters = specs.map(({ isSwitch, alias }) => (isSwitch ? "" : (alias ?? ""))).join("");
  const joined = new RegExp(`^-([${letters}])(?=[^=])`);
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.map((arg, at) => (at > end ? arg : arg.replace(joined, "-$1=")));
}

type YargsLine = ReturnType<typeof parseByYargs>;

const versionWords = new Set(["--version", "-V", "-v", "version"]);

function asked(
  args: readonly string[],
  command: Command | null,
  flags: YargsLine["flags"],
): CommandLine["asks"] {
  const [first = "help", second = "help"] = args;
  if (versionWords.has(first)) return "version";
  if (command === null) {
    const group = groups.find(({ name }) => name === first) ?? null;
    const word = group === null ? first : second;
    return ["--help", "-h", "help"].includes(word) ? { helpOn: group } : null;
  }
  if (flags["help"] === true) return { helpOn: command };
  return flags["version"] === true ? "version" : null;
}

function checkFlags(
  line: YargsLine,
  args: readonly string[],
  command: Command,
): Pick<CommandLine, "flags" | "fault"> {
  let fault = line.fault === null ? null : explained(line.fault, args, command);
  const given = new Map<string, GivenSetting>();
  for (const spec of optionSpecs(command.options)) {
    const { flag } = spec;
    const typed = line.flags[flag];
    if (typed === undefined) continue;
    const value = spec.isSwitch ? checkedSwitch(spec, typed, args) : checkedText(spec, typed);
    if (value instanceof UsageError) fault ??= value;
    else given.set(spec.key, { value, level: "flag", name: `--${flag}` });
  }
  return { flags: given, fault };
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

/** Refuses a value other than true or false for a switch: yargs would read it as false. */
function checkedSwitch(spec: OptionSpec, value: unknown, args: readonly string[]): unknown {
  const { flag } = spec;
  const typed = args.find((arg) => arg.startsWith(`--${flag}=`))?.slice(flag.length + 3);
  if (typed === undefined || typed === "true" || typed === "false") return value;
  return new UsageError(
    "invalid_setting",
    `--${flag} takes no value; got ${JSON.stringify(typed)}`,
    { hint: `write --${flag} or --no-${flag}` },
  );
}

function checkedText(
  { flag, placeholder, repeats }: OptionSpec,
  value: unknown,
): string | readonly string[] | UsageError {
  if (value === false) {
    return new UsageError("flag_not_negatable", `--no-${flag} does not exist`, {
      hint: `--${flag} takes a value: --${flag} ${placeholder}`,
    });
  }
  const values = [value].flat().map(String);
  if (values.length > 1 && repeats === "list") return values;
  if (values.length === 1 || repeats !== false) return values.join(",");
  return new UsageError(
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
  const flags = optionSpecs(command.options).flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const near = didYouMean(written.replace(/^--?/, ""), [...flags, "version", "help"]);
  return new UsageError("unknown_flag", `${command.name} has no flag ${written}`, {
    hint: secretFlag.test(written) ? secretHint : near && `did you mean --${near}?`,
  });
}

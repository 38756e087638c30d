import { labelledText, narrow, wrapLines } from "../../core/wording/printable.js";
import yargs, { type Argv, type Options } from "yargs";
import { commandNames, groups, commandNamed, loadCommand, loadCommands } from "../command-list.js";
import { type Command, completionFlag, optionSections, usageOf } from "../command.js";
import { type OptionSpec, optionSpecs, writtenFlag } from "../options/settings.js";

// Only this file uses yargs: to parse, explain and complete the command line.

class LineFault extends Error {}

/**
 * Parses a command line. Without a command, yargs knows only the flags that all commands share.
 *
 * @returns values by flag, without dashes (a list for a flag given several times); other words; and the
 *   first error in yargs's words, null for none
 */
export function parseByYargs(args: readonly string[], command: Command | null) {
  const parser = withFlags(plain(), command, ({ flag }) => flag);
  parser.strictOptions().fail((message) => {
    // The schemas describe wrong values better.
    if (!message.startsWith("Invalid values")) throw new LineFault(message);
  });
  let fault: string | null = null;
  try {
    parser.parseSync([...args]);
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    fault = error.message;
  }
  const { parsed } = parser as Argv & { readonly parsed: { readonly argv: ParsedArgv } };
  const { _: words, $0: _program, ...flags }: Record<string, unknown> & ParsedArgv = parsed.argv;
  return { flags, words: words.map(String), fault };
}

type ParsedArgv = Awaited<Argv["argv"]>;

/** Completions of the last word among these commands and their flags. zsh and fish get descriptions. */
function candidates(words: readonly string[], commands: readonly Command[]): readonly string[] {
  let found = "";
  const parser = program(commands, (spec) => writtenFlag(spec).split(" ")[0]!.slice(2));
  void parser.parse([completionFlag, ...words], {}, (_error, _argv, output) => {
    found = output;
  });
  return found.split("\n");
}

export async function helpPage(command: Command, width: number): Promise<string> {
  const intro = [`Usage: ${usageOf(command)}`, ...command.description].join("\n\n");
  const page = plain().usage(intro).wrap(null) as Argv & UsageConfiguration;
  page.usageConfiguration({ "hide-types": true });
  page.updateStrings({ "Positionals:": "Arguments:" });
  for (const [term, describe] of command.operands)
    page.positional(term, { type: "string", describe });
  for (const [title, specs] of optionSections(command)) {
    for (const spec of specs) {
      const key = writtenFlag(spec).slice(2);
      page.option(key, { ...flagOf(spec), group: `${title}:`, describe: meaningOf(spec) });
    }
  }
  const lines = (await page.getHelp()).split("\n");
  return lines.map((line) => wrapped(line, width)).join("\n");
}

/** Wraps a line, and indents the text beside a term. yargs's own wrapping takes a quarter of a second. */
function wrapped(line: string, width: number): string {
  const [head = ""] = /^ {2,}\S.*? {2,}/.exec(line) ?? [];
  if (head === "") return wrapLines(line, width, 0);
  const column = width < narrow ? 6 : head.length;
  return labelledText(head.trimEnd(), line.slice(head.length), column, width);
}

/** A method of yargs 18 that its types lack. */
interface UsageConfiguration {
  usageConfiguration(configuration: { readonly "hide-types": boolean }): unknown;
}

/** A flag's description with its allowed values and default. */
function meaningOf(spec: OptionSpec): string {
  const listed = spec.choices.length > 0 && spec.placeholder !== spec.choices.join("|");
  const notes = [
    ...(listed ? [`one of ${spec.choices.join(", ")}`] : []),
    ...(spec.isSwitch || spec.defaultText === null ? [] : [`default ${spec.defaultText}`]),
  ];
  return spec.description + (notes.length > 0 ? ` [${notes.join("; ")}]` : "");
}

/** Declares commands and groups to yargs, their flags under the names that `keyOf` returns. */
function program(commands: readonly Command[], keyOf: (spec: OptionSpec) => string): Argv {
  const known = new Map(commands.map((command) => [command.name, command]));
  const command = (parser: Argv, name: string, word: string): unknown =>
    parser.command(word, known.get(name)?.summary ?? "", (own) =>
      withFlags(own, known.get(name) ?? null, keyOf),
    );
  const top = plain();
  for (const name of commandNames) if (!name.includes(" ")) command(top, name, name);
  for (const group of groups) {
    const members = commandNames.filter((name) => name.startsWith(`${group.name} `));
    top.command(group.name, group.summary, (own) => {
      for (const name of members) command(own, name, name.slice(group.name.length + 1));
    });
  }
  return top;
}

function withFlags(
  parser: Argv,
  command: Command | null,
  keyOf: (spec: OptionSpec) => string,
): Argv {
  for (const spec of optionSpecs(command?.options ?? { shape: {} })) {
    parser.option(keyOf(spec), flagOf(spec));
  }
  return parser
    .option("help", { type: "boolean", alias: "h", describe: "Print help and exit" })
    .option("version", { type: "boolean", alias: ["V", "v"], hidden: true });
}

function flagOf({ isSwitch, alias, choices, description }: OptionSpec): Options {
  return {
    type: isSwitch ? "boolean" : "string",
    requiresArg: !isSwitch,
    describe: description,
    ...(alias === null ? {} : { alias }),
    ...(choices.length === 0 ? {} : { choices }),
  };
}

/** yargs without its defaults: keeps names and values as typed, never exits, translates or prints help. */
function plain(): Argv {
  return yargs([])
    .scriptName("repute")
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .parserConfiguration({
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "strip-aliased": true,
    });
}

/**
 * Lists completions for the end of a command line, one per line: commands, flags, values of
 * a flag; none where a file is expected. For zsh and fish, each has its description.
 *
 * @param words from the program's name to the word under the cursor, which may be empty
 */
export async function complete(words: readonly string[]): Promise<string> {
  const command = await loadCommand(commandNamed(words.slice(1, -1)));
  const found = candidates(words, command === null ? await loadCommands() : [command]);
  // yargs also offers flags where a file is expected, and short forms.
  const offered = words.at(-1)?.startsWith("-")
    ? found.filter((line) => /^--\w\w/.test(line))
    : [...found.filter((line) => !line.startsWith("-")), ...(command?.operandChoices ?? [])];
  const all = words.length <= 2 ? [...offered, "help", "version"] : offered;
  return all.map((line) => (line === "" ? "" : `${line}\n`)).join("");
}

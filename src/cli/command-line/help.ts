import yargs, { type Argv } from "yargs";
import { type OptionSpec, optionSpecs, writtenFlag } from "../options/option-spec.js";
import { membersOf } from "../command-list.js";
import { secrets } from "../options/secrets.js";
import { wrapText } from "../../core/text/quantity.js";
import { type Command, type CommandGroup, isCommand } from "../command.js";

/** What to explain. */
export interface HelpRequest {
  /** The command or group to explain; null for the program. */
  readonly topic: Command | CommandGroup | null;
  /** Of a command only its most used flags. */
  readonly brief: boolean;
}

/** @param commands every command of the program */
export function helpText(
  { topic, brief }: HelpRequest,
  commands: readonly Command[],
  width: number,
): string {
  if (topic === null || !isCommand(topic)) return overview(topic, commands, width);
  return brief ? briefHelp(topic, width) : commandHelp(topic, width);
}

/** What the program does, for its help and its man page. */
export const programDescription =
  "Enriches files of indicators (IP addresses, domains, URLs, hashes, wallets, e-mail addresses) with their reputation " +
  "from a threat intelligence service. Each input row becomes one output row, with the answer in added columns.";

/** The help of the commands that share their first word; of the whole program for null. */
function overview(group: CommandGroup | null, commands: readonly Command[], width: number): string {
  const members = group === null ? commands : membersOf(group.name, commands);
  const own = group === null ? "" : `${group.name} `;
  const description = group?.description ?? [programDescription];
  const page = helpPage(`repute ${own}COMMAND [flags] [arguments]`, description, width);
  for (const { name, summary } of members) page.command(name, summary);
  const shown = group === null ? members.filter(({ name }) => !name.includes(" ")) : members;
  const more =
    group === null
      ? "`repute COMMAND -h` shows the most used flags of a command, `repute COMMAND --help` everything; `repute --version` prints the version."
      : `\`repute ${own}COMMAND --help\` explains a command.`;
  return sections([
    textOf(page),
    examples(
      shown.flatMap((command) => Object.entries(command.examples).slice(0, 1)),
      width,
    ),
    wrapText(more, width),
  ]);
}

/** Everything about a command. */
function commandHelp(command: Command, width: number): string {
  const page = commandPage(command, command.description, width);
  for (const [title, shape] of Object.entries(command.groups)) {
    for (const spec of optionSpecs({ shape })) addFlag(page, title, spec);
  }
  const tables = [
    table("Exit codes", command.exitCodes),
    table("Environment", variablesOf(command)),
    settingsOrder,
  ];
  page.epilogue(tables.join("\n\n"));
  return sections([textOf(page), examples(Object.entries(command.examples), width)]);
}

/** Most flags that `-h` lists. */
const mostBriefFlags = 15;

/** The most used flags of a command and two examples. */
function briefHelp(command: Command, width: number): string {
  const specs = optionSpecs(command.options);
  const common = specs.length > mostBriefFlags ? specs.filter((spec) => spec.common) : specs;
  const more = specs.length > common.length ? `all ${specs.length} flags, ` : "";
  const page = commandPage(command, [firstSentence(command.description[0] ?? "")], width);
  for (const spec of common) {
    const description = firstSentence(spec.description).replace(/\.$/, "");
    addFlag(page, "Flags", { ...spec, description });
  }
  return sections([
    textOf(page),
    examples(Object.entries(command.examples).slice(0, 2), width),
    wrapText(`\`repute ${command.name} --help\` shows ${more}exit codes and variables.`, width),
  ]);
}

function firstSentence(text: string): string {
  return /^.*?[^.]\.(?= )/.exec(text)?.[0] ?? text;
}

/** A flag as written, and its meaning with the allowed values and the default. */
export function describe(spec: OptionSpec): Entry {
  const short = spec.alias === null ? "" : `-${spec.alias}, `;
  const listed = spec.choices.length > 0 && spec.placeholder !== spec.choices.join("|");
  const notes = [
    ...(listed ? [`one of ${spec.choices.join(", ")}`] : []),
    ...(spec.isSwitch || spec.defaultText === null ? [] : [`default ${spec.defaultText}`]),
  ];
  const meaning = spec.description + (notes.length > 0 ? ` [${notes.join("; ")}]` : "");
  return [`${short}${writtenFlag(spec)}`, meaning];
}

/** A term and its meaning. */
export type Entry = readonly [term: string, meaning: string];

/** A parser that only prints its help: yargs lays out usage, commands, flags and tables. */
function helpPage(usage: string, description: readonly string[], width: number): Argv {
  return yargs([])
    .scriptName("")
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .wrap(Math.max(width, narrowest))
    .updateStrings({ "Positionals:": "Arguments:" })
    .usage([`Usage: ${usage}`, ...description].join("\n\n"));
}

/** Minimum width in characters: below it, yargs cuts flags and addresses in two. */
const narrowest = 60;

function commandPage(
  { name, usage, operands }: Command,
  description: readonly string[],
  width: number,
): Argv {
  const page = helpPage(`repute ${name} ${usage}`, description, width);
  for (const [placeholder, meaning] of operands) {
    page.option(placeholder, { group: "Arguments:", describe: meaning });
  }
  return page;
}

/** yargs has no placeholders for values, so they are part of the name. */
function addFlag(page: Argv, title: string, spec: OptionSpec): void {
  const [, meaning] = describe(spec);
  page.option(writtenFlag(spec).slice(2), {
    group: `${title}:`,
    describe: meaning,
    ...(spec.alias === null ? {} : { alias: spec.alias }),
  });
}

/** yargs turns tabs into columns. */
function table(title: string, entries: readonly Entry[]): string {
  return [`${title}:`, ...entries.map(([term, meaning]) => `  ${term}  \t${meaning}`)].join("\n");
}

function textOf(page: Argv): string {
  let text = "";
  page.showHelp((help) => (text = help));
  return text;
}

/** Commands to copy: each on one line, however long. */
function examples(list: readonly Entry[], width: number): string {
  const lines = list.map(([command, what]) => {
    const text = wrapText(what, width - 6).replaceAll("\n", "\n      ");
    return `  ${command}\n      ${text}`;
  });
  return ["Examples:", ...lines].join("\n");
}

/** How settings override each other. */
export const settingsOrder =
  "Flags override variables, variables override the config file (--config FILE, else ~/.config/repute/config.yaml), and the config file overrides the defaults.";

/** The variables that a command reads. */
export function variablesOf({ options, variables = [] }: Command): readonly Entry[] {
  const held = Object.values(secrets)
    .filter(({ fileKey }) => fileKey in options.shape)
    .map(({ variable, meaning }) => [variable, meaning] as const);
  return [
    ...held,
    ...variables,
    [
      "REPUTE_…",
      "every flag has a variable: --item-column is REPUTE_ITEM_COLUMN, --no-header is REPUTE_HEADER=false",
    ],
    ["REPUTE_DEBUG", "1: print a stack trace with each error"],
  ];
}

function sections(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

import { type OptionSpec, optionSpecs, writtenFlag } from "./option-spec.js";
import { membersOf } from "./command-tree.js";
import { secrets } from "./secrets.js";
import { wrapText } from "../../core/quantity.js";
import { type Command, type CommandGroup, isCommand } from "../command.js";

const indent = "  ";
/** Maximum width of the left column; a longer term moves its meaning to the next line. */
const widestTerm = 28;

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
  if (topic === null) return programHelp(commands, width);
  if (!isCommand(topic)) return groupHelp(topic, commands, width);
  return brief ? briefHelp(topic, width) : commandHelp(topic, width);
}

/** The help of the program as a whole. */
export function programHelp(commands: readonly Command[], width: number): string {
  return overview(
    "repute",
    [programDescription],
    commands,
    commands.filter(({ name }) => !name.includes(" ")),
    "`repute COMMAND -h` shows the most used flags of a command, `repute COMMAND --help` everything; `repute --version` prints the version.",
    width,
  );
}

/** What the program does, for its help and its man page. */
export const programDescription =
  "Enriches files of indicators (IP addresses, domains, URLs, hashes, wallets, e-mail addresses) with their reputation " +
  "from a threat intelligence service. Each input row becomes one output row, with the answer in added columns.";

/** The help of commands that share their first word. */
export function groupHelp(
  { name, description }: CommandGroup,
  commands: readonly Command[],
  width: number,
): string {
  const members = membersOf(name, commands);
  const more = `\`repute ${name} COMMAND --help\` explains a command.`;
  return overview(`repute ${name}`, description, members, members, more, width);
}

/** @param shown commands to give an example of */
function overview(
  program: string,
  description: readonly string[],
  commands: readonly Command[],
  shown: readonly Command[],
  more: string,
  width: number,
): string {
  return sections([
    `Usage: ${program} COMMAND [flags] [arguments]`,
    paragraphs(description, width),
    definitions(
      "Commands",
      commands.map(({ name, summary }) => [name, summary] as const),
      width,
    ),
    examples(
      shown.flatMap((command) => Object.entries(command.examples).slice(0, 1)),
      width,
    ),
    wrapText(more, width),
  ]);
}

/** Everything about a command. */
export function commandHelp(command: Command, width: number): string {
  const groups = Object.entries(command.groups).map(([title, shape]) => ({
    title,
    entries: optionSpecs({ shape }).map(describe),
  }));
  const column = columnOf(groups.flatMap((group) => group.entries));
  return sections([
    `Usage: repute ${command.name} ${command.usage}`,
    paragraphs(command.description, width),
    definitions("Arguments", command.operands, width),
    ...groups.map(({ title, entries }) => definitions(title, entries, width, column)),
    examples(Object.entries(command.examples), width),
    definitions("Exit codes", command.exitCodes, width),
    environment(command, width),
  ]);
}

/** Most flags that `-h` lists. */
const mostBriefFlags = 15;

/** The most used flags of a command and two examples. */
function briefHelp(command: Command, width: number): string {
  const specs = optionSpecs(command.options);
  const common = specs.length > mostBriefFlags ? specs.filter((spec) => spec.common) : specs;
  const more = specs.length > common.length ? `all ${specs.length} flags, ` : "";
  return sections([
    `Usage: repute ${command.name} ${command.usage}`,
    paragraphs([firstSentence(command.description[0] ?? "")], width),
    definitions("Arguments", command.operands, width),
    definitions(
      "Flags",
      common.map((spec) =>
        describe({ ...spec, description: firstSentence(spec.description).replace(/\.$/, "") }),
      ),
      width,
    ),
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

/** Column of the meanings: after the longest term that fits `widestTerm`. */
function columnOf(entries: readonly Entry[]): number {
  const lengths = entries.map(([term]) => term.length).filter((length) => length <= widestTerm);
  return indent.length + Math.max(0, ...lengths) + 2;
}

function definitions(
  title: string,
  entries: readonly Entry[],
  width: number,
  column = columnOf(entries),
): string {
  if (entries.length === 0) return "";
  const lines = entries.map(([term, meaning]) => {
    const text = wrapText(meaning, Math.max(width - column, 24));
    const start = indent + term;
    const below = `\n${" ".repeat(column)}`;
    const first = start.length + 2 <= column ? start.padEnd(column) : start + below;
    return first + text.replaceAll("\n", below);
  });
  return [`${title}:`, ...lines].join("\n");
}

function examples(list: readonly Entry[], width: number): string {
  const lines = list.map(([command, what]) => {
    const text = wrapText(what, width - 6).replaceAll("\n", "\n      ");
    return `${indent}${command}\n      ${text}`;
  });
  return ["Examples:", ...lines].join("\n");
}

/** How settings override each other. */
export const settingsOrder =
  "Flags override variables, variables override the config file (--config FILE, else config.json, config.yaml or config.toml in ~/.config/repute), and the config file overrides the defaults.";

function environment(command: Command, width: number): string {
  const entries = definitions("Environment", variablesOf(command), width);
  return `${entries}\n\n${wrapText(settingsOrder, width)}`;
}

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

function paragraphs(texts: readonly string[], width: number): string {
  return texts.map((text) => wrapText(text, width)).join("\n\n");
}

function sections(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

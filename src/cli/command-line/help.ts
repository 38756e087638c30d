import { inSections, membersOf } from "../command-list.js";
import { type Command, type CommandGroup, optionSections } from "../command.js";
import { type OptionSpec, writtenFlag } from "../options/option-spec.js";
import { secrets } from "../options/secrets.js";
import { labelledText, narrow, wrapLines, wrapText } from "../../core/wording/printable.js";

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

/** What the program does, for its help. */
const programDescription =
  "Enriches files of indicators (IP addresses, domains, URLs, hashes, wallets, e-mail addresses) with their reputation " +
  "from a threat intelligence service. Each input row becomes one output row, with the answer in added columns.";

/** Commands to start with. */
const firstCommands: readonly Entry[] = [
  ["repute enrich FILE -o out.csv --local", "try it; nothing leaves this machine"],
  ["repute query 192.0.2.1 --local", "look up one item"],
  ["repute doctor --local", "check this machine and the settings"],
];

/** What to type next, for who calls the program without arguments. */
export function firstSteps(width: number): string {
  const all: Entry = ["repute --help", "show all commands"];
  return page([listing([["", [...firstCommands, all]]], width, 45)]);
}

/** The help of the commands that share their first word; of the whole program for null. */
function overview(group: CommandGroup | null, commands: readonly Command[], width: number): string {
  const members =
    group === null
      ? inSections(commands)
      : [["Commands", membersOf(group.name, commands)] as const];
  const own = group === null ? "" : `${group.name} `;
  const more =
    group === null
      ? "`repute COMMAND -h` shows the most used flags of a command, `repute COMMAND --help` everything; `repute --version` prints the version."
      : `\`repute ${own}COMMAND --help\` explains a command.`;
  return page([
    usage(`repute ${own}COMMAND [flags] [arguments]`, width),
    ...(group?.description ?? [programDescription]).map((text) => wrapText(text, width)),
    listing(
      members.map(([title, list]) => [title, list.map(({ name, summary }) => [name, summary])]),
      width,
    ),
    group === null
      ? listing([["To start", firstCommands]], width, 45)
      : examples(
          membersOf(group.name, commands).flatMap((each) =>
            Object.entries(each.examples).slice(0, 1),
          ),
          width,
        ),
    wrapText(more, width),
  ]);
}

function isCommand(topic: Command | CommandGroup): topic is Command {
  return "run" in topic;
}

function commandHelp(command: Command, width: number): string {
  const flags = optionSections(command).map(
    ([title, specs]) => [title, specs.map(describeIndented)] as const,
  );
  return page([
    ...heading(command, command.description, width),
    listing(
      [...flags, ["Exit codes", command.exitCodes], ["Environment", variablesOf(command)]],
      width,
    ),
    wrapText(settingsOrder, width),
    examples(Object.entries(command.examples), width),
  ]);
}

/** Most flags that `-h` lists. */
const mostBriefFlags = 15;

/** The most used flags of a command and two examples. */
function briefHelp(command: Command, width: number): string {
  const specs = optionSections(command).flatMap(([, specs]) => specs);
  const common = specs.length > mostBriefFlags ? specs.filter((spec) => spec.common) : specs;
  const more = specs.length > common.length ? `all ${specs.length} flags, ` : "";
  const flags = common.map((spec) =>
    describeIndented({ ...spec, description: firstSentence(spec.description).replace(/\.$/, "") }),
  );
  return page([
    ...heading(command, [firstSentence(command.description[0] ?? "")], width),
    listing([["Flags", flags]], width),
    examples(Object.entries(command.examples).slice(0, 2), width),
    wrapText(`\`repute ${command.name} --help\` shows ${more}exit codes and variables.`, width),
  ]);
}

function firstSentence(text: string): string {
  return /^.*?[^.]\.(?= )/.exec(text)?.[0] ?? text;
}

/** A flag as written, and its meaning with the allowed values and the default. */
function describe(spec: OptionSpec): Entry {
  const short = spec.alias === null ? "" : `-${spec.alias}, `;
  const listed = spec.choices.length > 0 && spec.placeholder !== spec.choices.join("|");
  const notes = [
    ...(listed ? [`one of ${spec.choices.join(", ")}`] : []),
    ...(spec.isSwitch || spec.defaultText === null ? [] : [`default ${spec.defaultText}`]),
  ];
  const meaning = spec.description + (notes.length > 0 ? ` [${notes.join("; ")}]` : "");
  return [`${short}${writtenFlag(spec)}`, meaning];
}

/** The same, with room for a short form before the flag. */
function describeIndented(spec: OptionSpec): Entry {
  const [flag, meaning] = describe(spec);
  return [spec.alias === null ? `    ${flag}` : flag, meaning];
}

type Entry = readonly [term: string, meaning: string];

function usage(text: string, width: number): string {
  return wrapLines(`Usage: ${text}`, width);
}

function heading(
  command: Command,
  description: readonly string[],
  width: number,
): readonly string[] {
  return [
    usage(`repute ${command.name} ${command.usage}`, width),
    ...description.map((text) => wrapText(text, width)),
    listing([["Arguments", command.operands]], width),
  ];
}

/**
 * Terms and their meanings under titles, in two columns. The meaning begins below a term that is too
 * long for the first column; on a narrow terminal below every term.
 *
 * @param widest the first column at most
 */
function listing(
  sections: readonly (readonly [title: string, entries: readonly Entry[]])[],
  width: number,
  widest = 28,
): string {
  const filled = sections.filter(([, entries]) => entries.length > 0);
  const ends = filled.flatMap(([, entries]) => entries.map(([term]) => term.length + 4));
  const isNarrow = width < narrow;
  const column = isNarrow ? 6 : Math.min(widest, Math.max(...ends));
  const blocks = filled.map(([title, entries]) =>
    [
      ...(title === "" ? [] : [`${title}:`]),
      ...entries.map(([term, meaning]) =>
        labelledText(`  ${isNarrow ? term.trimStart() : term}`, meaning, column, width),
      ),
    ].join("\n"),
  );
  return blocks.join("\n\n");
}

/** Commands to copy: each on one line, however long. */
function examples(list: readonly Entry[], width: number): string {
  return listing([["Examples", list]], width, 6);
}

/** How settings override each other. */
const settingsOrder =
  "Flags override variables, variables override the config file (--config FILE, else ~/.config/repute/config.yaml), and the config file overrides the defaults.";

/** The variables that a command reads. */
function variablesOf({ options, variables = [] }: Command): readonly Entry[] {
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
    ["NO_COLOR", "1: no colours; FORCE_COLOR=1: colours in pipes and files, too"],
    ["REPUTE_DEBUG", "1: print a stack trace with each error"],
  ];
}

/** Parts with an empty line between them. */
function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

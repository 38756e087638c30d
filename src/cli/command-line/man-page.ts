import { groups, inSections } from "../command-list.js";
import { type Command, optionSections } from "../command.js";
import { describe, type Entry, programDescription, settingsOrder, variablesOf } from "./help.js";

/** The man page of the program, section 1, as roff with the macros of man(7). */
export function manPage(commands: readonly Command[], version: string): string {
  const variables = new Map(commands.flatMap((command) => variablesOf(command)));
  return [
    `.TH REPUTE 1 "" "repute ${version}" "User Commands"`,
    ".SH NAME",
    text("repute - enrich files of indicators with their reputation"),
    ".SH SYNOPSIS",
    ".B repute",
    text("COMMAND [flags] [arguments]"),
    ".SH DESCRIPTION",
    text(programDescription),
    ...groups.flatMap(({ description }) => description.flatMap(paragraph)),
    ...inSections(commands).flatMap(([title, members]) =>
      [`.SH ${text(title.toUpperCase())}`].concat(members.flatMap(commandSection)),
    ),
    ".SH ENVIRONMENT",
    ...[...variables].flatMap(definition),
    ...paragraph(settingsOrder),
    ".SH SEE ALSO",
    text(seeAlso),
    "",
  ].join("\n");
}

const seeAlso =
  "crontab(5), jq(1), psql(1), redis-server(1). The folder docs of the package has pages on inputs, outputs, settings, runs and errors; `repute COMMAND --help` explains a command.";

function commandSection(command: Command): readonly string[] {
  return [
    `.SS repute ${text(`${command.name} ${command.usage}`)}`,
    // A heading begins a paragraph by itself.
    ...command.description.flatMap(paragraph).slice(1),
    ...command.operands.flatMap(definition),
    ...optionSections(command).flatMap(([title, specs]) =>
      heading(title).concat(specs.map(describe).flatMap(definition)),
    ),
    ...heading("Examples"),
    ...Object.entries(command.examples).flatMap(definition),
    ...heading("Exit codes"),
    ...command.exitCodes.flatMap(definition),
  ];
}

function heading(title: string): readonly string[] {
  return [".PP", `.I ${title}`];
}

function paragraph(prose: string): readonly string[] {
  return [".PP", text(prose)];
}

function definition([term, meaning]: Entry): readonly string[] {
  return [".TP", `\\fB${text(term)}\\fR`, text(meaning)];
}

/** Escapes what roff would read as a request, an escape or a hyphen (groff_char(7)). */
function text(prose: string): string {
  return prose
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll("`", String.raw`\(ga`)
    .replaceAll("^", String.raw`\(ha`)
    .replaceAll("~", String.raw`\(ti`)
    .replaceAll(/[^\t\n -~]/gu, (char) => String.raw`\[u${codePoint(char)}]`)
    .replace(/^\./, String.raw`\&.`);
}

function codePoint(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

import { describe, expect, test } from "vitest";
import { inSections, loadCommands } from "../../../../src/cli/command-list.js";
import { optionSections } from "../../../../src/cli/command.js";
import { manPage } from "../../../../src/cli/command-line/man-page.js";
import { optionSpecs, writtenFlag } from "../../../../src/cli/options/option-spec.js";

const commands = await loadCommands();
const page = manPage(commands, "1.2.3");

/** The section of a command as a reader sees it. */
function sectionOf(name: string): string {
  const written = page.replaceAll(String.raw`\-`, "-");
  const [, section = ""] =
    new RegExp(`\n\\.SS repute ${name} (.*?)\n\\.S[HS] `, "s").exec(written) ?? [];
  return section;
}

describe.each(commands.map((command) => [command.name, command] as const))(
  "%s",
  (name, command) => {
    test("has a section with every flag", () => {
      const flags = optionSpecs(command.options).map(writtenFlag);
      const listed = [...sectionOf(name).matchAll(/^\\fB(?:-\w, )?(--.*)\\fR$/gm)];
      expect(listed.map(([, flag = ""]) => flag).toSorted()).toEqual(flags.toSorted());
      expect(sectionOf(name)).toContain("\n.I Exit codes\n");
    });
  },
);

test("has a section for each heading of the help, and its flags under those of the help", () => {
  const titles = inSections(commands).map(([title]) => `.SH ${title.toUpperCase()}`);
  const sections = page.replaceAll(String.raw`\-`, "-").match(/^\.SH .*$/gm);
  expect(sections?.slice(3, -2)).toEqual(titles);
  expect(sections?.at(-1)).toBe(".SH SEE ALSO");
  const [enrich] = commands;
  const headings = sectionOf("enrich").match(/(?<=^\.I ).*$/gm);
  expect(headings).toEqual([
    ...optionSections(enrich!).map(([title]) => title),
    "Examples",
    "Exit codes",
  ]);
});

test("is ASCII, and no text line starts a roff request", () => {
  const requests = page.match(/^[.'].*$/gm) ?? [];
  expect(requests.filter((line) => !/^\.(?:TH|SH|SS|PP|TP|B|I)\b/.test(line))).toEqual([]);
  expect(page).toMatch(/^[\n -~]+$/);
});

import type { z } from "zod";
import { optionSpecs, writtenFlag } from "../../src/cli/options/option-spec.js";
import type { OptionSpec } from "../../src/cli/options/option-spec.js";

/**
 * The options of a component as a Markdown table with flag, default and description. The docs'
 * tables are generated with it, so they always match the program.
 */
export function optionTable(schema: z.ZodObject): string {
  const rows = optionSpecs(schema).map((spec) => [
    flagCell(spec),
    defaultCell(spec),
    meaning(spec),
  ]);
  return [["Flag", "Default", "What it does"], ["---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
}

function flagCell(spec: OptionSpec): string {
  const short = spec.alias === null ? "" : `\`-${spec.alias}\`, `;
  return `${short}\`${escape(writtenFlag(spec))}\``;
}

function defaultCell(spec: OptionSpec): string {
  if (spec.isSwitch || spec.defaultText === null) return "";
  return `\`${escape(spec.defaultText)}\``;
}

function meaning(spec: OptionSpec): string {
  const listed = spec.choices.length > 0 && spec.placeholder !== spec.choices.join("|");
  const choices = listed ? `; one of ${spec.choices.join(", ")}` : "";
  return escape(spec.description + choices);
}

function escape(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

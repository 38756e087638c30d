import { type OptionSpec, writtenFlag } from "../../src/cli/options/settings.js";
import { table } from "./markdown.js";

/** Flags as the documentation shows them, so that it always matches the program. */
export function optionTable(rows: readonly OptionRow[]): string {
  return table(["Flag", "Default", "What it does"], rows);
}

export type OptionRow = readonly [flag: string, fallback: string, meaning: string];

export function optionRow(spec: OptionSpec): OptionRow {
  const short = spec.alias === null ? "" : `\`-${spec.alias}\`, `;
  const fallback = spec.isSwitch || spec.defaultText === null ? "" : `\`${spec.defaultText}\``;
  const listed = spec.choices.length > 0 && spec.placeholder !== spec.choices.join("|");
  const choices = listed ? `; one of ${spec.choices.join(", ")}` : "";
  return [`${short}\`${writtenFlag(spec)}\``, fallback, spec.description + choices];
}

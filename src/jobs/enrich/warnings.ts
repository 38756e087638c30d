import type { UnsupportedCode } from "../../core/item/item.js";
import type { Manifest } from "../../core/manifest.js";
import { surplusCells } from "../../core/row.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import { extractPipe, shownColumns } from "../../io/formats/columns/name-columns.js";
import type { OpenedSource, RunInput } from "../../io/input/types.js";
import { countedWarning, otherTimes, otherWords } from "./counters.js";
import type { OpenRun } from "./open-run.js";
import type { TallySnapshot } from "./tally.js";

/** Warnings about the run as a whole: the input, the service's address, the item column. */
export function closingWarnings(run: OpenRun, ofAddress: readonly string[]): readonly string[] {
  const { job, source, tally } = run;
  const counts = tally.snapshot();
  const { columns } = job.settings.output;
  const losesCells =
    columns !== undefined && !columns.includes("extra") && counts.warnings[surplusCells];
  const messages = [
    tally.rows === 0 && "the input has no rows",
    ...ofAddress,
    unlikelyColumn(source, counts),
    insideWarning(job.input, counts),
    losesCells &&
      "cells of rows with more cells than columns are not in the output; add extra to --columns to keep them",
  ].filter((message) => typeof message === "string");
  // Those about values are counted already, row by row.
  for (const message of [...messages, ...valueWarnings(counts)]) job.onWarning?.(message);
  return [...source.warnings, ...messages];
}

/** Share of rows without an indicator from which the item column is probably wrong. */
const unlikelyShare = 0.9;

/** Reason codes of cells that were never meant as indicators. */
const noIndicator: readonly UnsupportedCode[] = [
  "empty",
  "text",
  "control_character",
  "not_text",
  "hex_length",
];

/** Warning for a run with almost nothing to look up, which probably read the wrong column. */
function unlikelyColumn(source: OpenedSource, counts: TallySnapshot): string | null {
  const { rows, unsupported } = counts;
  const { format, items } = source.reading;
  const idle = noIndicator.reduce((sum, code) => sum + (unsupported[code] ?? 0), 0);
  if (idle === 0 || idle < rows * unlikelyShare) return null;
  const have = `${idle} of ${counted(rows, "row")} ${idle === 1 ? "has" : "have"} no indicator`;
  if (source.files !== undefined) return `${have}; choose the column with --item-column`;
  return format === "text"
    ? `${have}; the input was read as one item per line; set its format with --from`
    : `${have} in column ${shownColumns(items)}; choose another with --item-column`;
}

/** Warns if more items are inside cells and lines than rows were looked up; null otherwise. */
export function insideWarning(
  input: RunInput,
  { inside_cells: inside = 0, kinds }: Pick<Manifest, "inside_cells" | "kinds">,
): string | null {
  const lookedUp = Object.values(kinds).reduce((sum, rows) => sum + rows, 0);
  if (inside <= lookedUp) return null;
  const files =
    "inputs" in input ? input.inputs.map(({ name }) => name) : ["path" in input ? input.path : "-"];
  const are = inside === 1 ? "item is" : "items are";
  return (
    `${formatCount(inside)} ${are} inside cells or lines, and ${counted(lookedUp, "row")} looked up; ` +
    `to find them: ${extractPipe(files)}`
  );
}

/** The warnings about values of answers that the interface does not list. */
function valueWarnings({ warnings, warned_rows }: TallySnapshot): readonly string[] {
  return [otherTimes, otherWords].flatMap((message) => {
    const rows = warnings[message];
    return rows === undefined ? [] : [countedWarning(message, rows, warned_rows[message])];
  });
}

import { didYouMean } from "../core/did-you-mean.js";
import { UsageError } from "../core/errors.js";
import { quotedName } from "./quoted-name.js";
import { type ColumnFlag, customaryItemColumns } from "./find-column.js";

/** The error of a flag that names a column that is not there. */
export function unknownColumn(
  input: string,
  columns: readonly string[],
  { flag, wanted }: ColumnFlag,
): UsageError {
  const suggestion = didYouMean(wanted, columns);
  return new UsageError(
    "column_not_found",
    `${input} has no column ${quotedName(wanted)} (${flag}). ${listed(columns)}`,
    {
      hint:
        suggestion === null
          ? `Give ${flag} one of them.`
          : `Did you mean ${quotedName(suggestion.trim())}?`,
    },
  );
}

/** The error of an input that has none of the customary item columns. */
export function noItemColumn(input: string, columns: readonly string[]): UsageError {
  if ((columns.join("").match(controls)?.length ?? 0) > 1) {
    return new UsageError("column_not_found", `${input} does not begin with names of columns`, {
      hint: "It seems to be no text file: is it compressed, encrypted or of another kind?",
    });
  }
  return new UsageError(
    "column_not_found",
    `${input} has none of the columns ${customaryItemColumns.join(", ")}. ${listed(columns)}`,
    { hint: separatorHint(columns) ?? "Say with --item-column NAME which one holds the items." },
  );
}

function listed(columns: readonly string[]): string {
  if (columns.length === 0) return "It has no columns.";
  return `Its columns are: ${columns.map((column) => quotedName(column.trim())).join(", ")}.`;
}

/** Control characters that no text has; a single one may have slipped in. */
const controls = /[^\P{Cc}\t\r\n]/gu;

/** A single column that holds separators tells of another format than the one that was said. */
function separatorHint(columns: readonly string[]): string | null {
  const only = columns.length === 1 ? columns[0]! : "";
  if (only.includes("\t")) return "The columns seem to be separated by tabs: try --from tsv.";
  if (only.includes(",")) return "The columns seem to be separated by commas: try --from csv.";
  if (only.includes(";"))
    return "The columns seem to be separated by semicolons; repute reads commas or tabs.";
  return null;
}

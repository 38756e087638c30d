import { lackedColumns, type OptionalColumns } from "./columns.js";
import { endpoints } from "./endpoints/endpoints.js";
import { UsageError } from "./errors.js";
import { lookupEndpoints } from "./finding.js";
import { counted } from "./text/quantity.js";
import { decisiveColumns } from "./verdict.js";

export const reportedColumns = ["item", "kind", "status", "verdict"] as const;

export const retriedColumns: readonly string[] = [
  ...reportedColumns,
  "missing",
  ...new Set([
    ...lookupEndpoints.flatMap((endpoint) => endpoints[endpoint].shownBy),
    ...Object.values(decisiveColumns).flat(),
  ]),
  "source",
  "error_code",
  "error",
];

/** @throws UsageError `columns_missing` if an earlier output lacks columns that a command needs */
export function mustHaveColumns(
  path: string,
  needed: readonly string[],
  has: OptionalColumns,
): void {
  refuseLack(path, lackedColumns(needed, has), {
    hint: "run enrich again with these among --columns, or without --columns; if they were removed or renamed since, take the file as it was written",
  });
}

/** @throws UsageError `columns_missing` if `--columns` leaves out columns that another flag needs */
export function mustChooseColumns(
  what: string,
  needed: readonly string[],
  only: readonly string[] | undefined,
): void {
  refuseLack(what, lackedColumns(needed, { only }), {
    hint: "add them to --columns, or leave out --columns",
  });
}

function refuseLack(
  what: string,
  lacking: readonly string[],
  remedy: { readonly hint: string },
): void {
  if (lacking.length === 0) return;
  const many = `${counted(lacking.length, "column")} that this needs`;
  throw new UsageError("columns_missing", `${what} lacks ${many}: ${lacking.join(", ")}`, remedy);
}

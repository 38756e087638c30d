import { endpoints } from "../../core/endpoints/endpoints.js";
import { type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import { decisiveColumns, decisiveMembers, isOtherWord } from "../../core/verdict.js";
import type { OutputRecord } from "./types.js";

type Columns = Pick<OutputRecord, "text" | "list">;

/** The lookups that a row of an output has answers of, as its columns show. */
export function answeredLookups(row: Columns): readonly LookupEndpoint[] {
  const shown = lookupEndpoints.filter((endpoint) =>
    endpoints[endpoint].shownBy.some((column) => row.text(column) !== ""),
  );
  // Every member of a quick check may be null.
  if (shown.includes("query") || row.text("status") !== "complete") return shown;
  return lookupEndpoints.filter((name) => name === "quick-check" || shown.includes(name));
}

/** What a verdict needs and no answer has: neither a partial one nor another endpoint's. */
export function lackedMembers(row: Columns): readonly string[] {
  const missing = row.list("missing");
  return decisiveMembers.filter(
    (member) =>
      missing.includes(member) &&
      decisiveColumns[member].every((column) => row.text(column) === ""),
  );
}

/** Whether an answer of the row has an undocumented intent or mail blocklist status. */
export function rowHasOtherWord(row: Columns): boolean {
  return decisiveMembers.some((member) =>
    decisiveColumns[member].some(
      (column) => row.text(column) !== "" && isOtherWord(member, row.text(column)),
    ),
  );
}

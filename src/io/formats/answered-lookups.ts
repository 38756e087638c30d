import { decisiveMembers, isOtherWord, type LookupEndpoint } from "../../core/finding.js";
import type { EarlierRecord } from "./types.js";

type Columns = Pick<EarlierRecord, "text" | "list">;

/** The lookups that a row of an output has answers of, as its columns show. */
export function answeredLookups(row: Columns): readonly LookupEndpoint[] {
  const hasQuery = row.text("type") !== "";
  const hasQuickCheck =
    quickCheckColumns.some((column) => row.text(column) !== "") ||
    (!hasQuery && row.text("status") === "complete");
  return [
    ...(hasQuery ? (["query"] as const) : []),
    ...(hasQuickCheck ? (["quick-check"] as const) : []),
  ];
}

/** One of them has a value if the quick check answered with more than nulls. */
const quickCheckColumns = ["quick_mail_blocklist", "quick_intent", "quick_activity"] as const;

/** What a verdict needs and neither a partial answer nor the quick check has. */
export function lackedMembers(row: Columns): readonly string[] {
  const missing = row.list("missing");
  return decisiveMembers.filter(
    (member) => missing.includes(member) && row.text(quickColumns[member]) === "",
  );
}

/** Whether an answer of the row has an undocumented intent or mail blocklist status. */
export function rowHasOtherWord(row: Columns): boolean {
  return decisiveMembers.some((member) =>
    [queryColumns[member], quickColumns[member]].some(
      (column) => row.text(column) !== "" && isOtherWord(member, row.text(column)),
    ),
  );
}

const queryColumns = { intent: "intent", serviceMailBlocklist: "mail_blocklist" };
const quickColumns = { intent: "quick_intent", serviceMailBlocklist: "quick_mail_blocklist" };

import type { Answers, Finding, JsonObject } from "../../src/core/finding.js";
import type { Item } from "../../src/core/item/item.js";
import type { EnrichedRow, Row } from "../../src/core/row.js";
import { completeFinding } from "./complete-finding.mjs";

/** A row with plausible members, as from a CSV source. */
export function aRow(members: Partial<Row> = {}): Row {
  const number = members.number ?? 1;
  return {
    number,
    cells: ["192.0.2.1"],
    extra: null,
    json: null,
    itemText: "192.0.2.1",
    kindText: "",
    fault: null,
    size: 10,
    ...members,
  };
}

/** Members of a finding, with its results separate. */
export type FindingParts = Partial<Finding> & {
  readonly query?: JsonObject | null;
  readonly quickCheck?: JsonObject | null;
};

export function aFinding({ query, quickCheck, ...members }: FindingParts = {}): Finding {
  const answers: Answers = {
    ...(query ? { query: { result: query } } : {}),
    ...(quickCheck ? { "quick-check": { result: quickCheck } } : {}),
  };
  return { ...completeFinding, answers, ...members };
}

export const anItem: Item = { kind: "ip", value: "192.0.2.1" };

export function anEnrichedRow(
  row: Partial<Row> = {},
  finding: FindingParts = {},
  item: Item | null = anItem,
): EnrichedRow {
  return { row: aRow(row), item, finding: aFinding(finding) };
}

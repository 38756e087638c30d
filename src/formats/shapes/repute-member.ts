import { nestedFacts, nestedText } from "../../core/nested-facts.js";
import type { EnrichedRow, Row } from "../../core/row.js";
import type { Verdict } from "../../core/verdict.js";
import { uniqueNames } from "../ndjson/ndjson-writer.js";

/**
 * Writes everything that repute knows of a row as one JSON object: the row's number,
 * the members of nested NDJSON, and the input's own columns under `input`.
 *
 * @param inputColumns the input's columns as they stand in the input
 */
export function reputeMember(
  inputColumns: readonly string[],
): (enriched: EnrichedRow, verdict: Verdict | null) => string {
  const keys = uniqueNames(inputColumns).map((name) => JSON.stringify(name) + ":");
  return ({ row, item, finding }, verdict) => {
    const facts = nestedText(nestedFacts(item, finding, verdict), finding);
    // What a source could not place is JSON already; a record of NDJSON has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    return `{"row":${row.number},${facts.slice(1, -1)},"input":${inputObject(row, keys)}${extra}}`;
  };
}

function inputObject(row: Row, keys: readonly string[]): string {
  if (row.json !== null) return row.json;
  if (row.fault !== null) return "null";
  let text = "";
  for (let index = 0; index < keys.length; index++) {
    text += (index > 0 ? "," : "") + keys[index]! + JSON.stringify(row.cells[index] ?? "");
  }
  return `{${text}}`;
}

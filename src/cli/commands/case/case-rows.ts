import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { stringify } from "csv-stringify/sync";
import type { RepShareCase } from "../../../api/schema/operations.js";
import { withoutFormula } from "../../../formats/csv/csv-writer.js";
import type { SourceInput } from "../../../inputs/types.js";

export const caseItemColumn = "ip";

/** Members of a case that become columns next to the address. */
const members = [
  "id",
  "customer_id",
  "tenant_id",
  "event_count",
  "event_types",
  "first_event_date",
  "last_event_date",
  "state",
] as const satisfies readonly (keyof RepShareCase)[];

/**
 * Format of the rows. `guarded` neutralises formulas for spreadsheets; `all` includes undocumented
 * members.
 */
export type CaseRowsFormat = "csv" | "csv, guarded" | "ndjson" | "ndjson, all";

/** The addresses of a case as input of the main job: one row each, with the fields of the case. */
export function caseRows(found: RepShareCase, format: CaseRowsFormat): SourceInput {
  const lines =
    format === "csv" || format === "csv, guarded"
      ? csvLines(found, format === "csv" ? String : withoutFormula)
      : ndjsonLines(found, format);
  const version = createHash("sha256").update(lines.join("")).digest("hex").slice(0, 12);
  const stream = Readable.from(lines.map((line) => Buffer.from(line)));
  return { stream, name: `case ${found.id}`, version };
}

/** Every cell, the address included, comes from the service, so `shown` guards them all. */
function csvLines(found: RepShareCase, shown: (cell: string) => string): string[] {
  const beside = members.map((member) => {
    const value = found[member] ?? "";
    return shown(Array.isArray(value) ? value.join("|") : String(value));
  });
  const rows = (found.event_ips ?? []).map((ip) => stringify([[shown(ip), ...beside]]));
  return [stringify([[caseItemColumn, ...members]]), ...rows];
}

function ndjsonLines(found: RepShareCase, format: CaseRowsFormat): string[] {
  const { event_ips: ips, ...rest } = found;
  const known = Object.fromEntries(members.map((member) => [member, found[member] ?? null]));
  const beside = format === "ndjson" ? known : rest;
  return (ips ?? []).map((ip) => {
    const item = { [caseItemColumn]: ip };
    return `${JSON.stringify({ ...item, ...beside, ...item })}\n`;
  });
}

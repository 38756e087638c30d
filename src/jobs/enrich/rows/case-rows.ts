import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { RepShareCase } from "../../../client/api/calls.js";
import { jsonText } from "../../../core/json-members.js";
import { csvPieces } from "../../../io/formats/csv/csv-output.js";
import { parseOutput } from "../../../io/output/registry.js";

const caseItemColumn = "ip";

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
 * The addresses of a case as input of the main job: one row each, with the fields of the case. CSV,
 * TSV and typed outputs get the documented fields, all others every field that the case has.
 */
export function caseRows(
  found: RepShareCase,
  { to, output }: { readonly to?: string | undefined; readonly output: string },
) {
  const { format, rules } = parseOutput(output);
  const isTyped = rules !== null;
  const isCsv = isTyped || ["csv", "tsv"].includes(to ?? format ?? "csv");
  const lines = isCsv ? csvLines(found, isTyped) : ndjsonLines(found);
  const version = createHash("sha256").update(lines.join("")).digest("hex").slice(0, 12);
  const stream = Readable.from(lines.map((line) => Buffer.from(line)));
  const input = { stream, name: `case ${found.id}`, version };
  return { input, from: isCsv ? "csv" : "ndjson", itemColumn: caseItemColumn } as const;
}

/** Guards every cell of a text output: all come from the service and may be spreadsheet formulas. */
function csvLines(found: RepShareCase, isTyped: boolean): readonly string[] {
  const beside = members.map((member) => [found[member] ?? ""].flat().join("|"));
  const rows = (found.event_ips ?? []).map((ip) => [ip].concat(beside));
  return [...csvPieces(",", [[caseItemColumn, ...members], ...rows], isTyped ? String : undefined)];
}

function ndjsonLines({ event_ips: ips, ...beside }: RepShareCase): readonly string[] {
  return (ips ?? []).map((ip) => {
    const item = { [caseItemColumn]: ip };
    return `${jsonText({ ...item, ...beside, ...item })}\n`;
  });
}

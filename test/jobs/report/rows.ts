import type { OutputRecord } from "../../../src/io/formats/types.js";
import { tallyReport } from "../../../src/jobs/report/report-tally.js";
import { type FoundManifest, parseManifest } from "../../../src/core/manifest.js";
import type { Report } from "../../../src/jobs/report/report-tally.js";

export type Values = Readonly<Record<string, string>> & { readonly cells?: never };

/** A row of an output, by its added columns and the input's cells. */
export function record(values: Values, cells: readonly string[] = []): OutputRecord {
  const text = (name: string): string => values[name] ?? "";
  return {
    text,
    list: (name) => (text(name) === "" ? [] : text(name).split("|")),
    cells,
    json: null,
    extra: null,
  };
}

/** A row about an address. */
export function ip(item: string, verdict: string, more: Values = {}, cells?: readonly string[]) {
  return record({ item, kind: "ip", status: "complete", verdict, source: "live", ...more }, cells);
}

export function reportOf(
  records: readonly OutputRecord[],
  columns: readonly string[] = [],
  run: FoundManifest | null = null,
): Promise<Report> {
  return tallyReport("out.csv", { columns, records: inLists(records), manifest: run });
}

/** The manifest of a run as far as a report tells of it. */
export function runOf(input: object): FoundManifest {
  return parseManifest({ input: { ...readAs, ...input }, started_at: "2026-02-02T00:00:00Z" }, "")!;
}

const readAs = {
  path: "in.csv",
  format: "csv",
  delimiter: ",",
  header: "record",
  item_column_by: "name",
  item_column_share: 1,
  kind_column: null,
  kind_column_by: null,
  bytes: 1,
  rows: 1,
  grew_while_interrupted: false,
};

async function* inLists(records: readonly OutputRecord[]) {
  for (let from = 0; from < records.length; from += 100) yield records.slice(from, from + 100);
}

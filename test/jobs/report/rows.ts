import type { OutputRecord } from "../../../src/io/formats/types.js";
import { tallyReport } from "../../../src/jobs/report/report-tally.js";
import type { Report, RunFacts } from "../../../src/jobs/report/types.js";

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
  run: RunFacts | null = null,
): Promise<Report> {
  return tallyReport("out.csv", { columns, records: inLists(records) }, run);
}

async function* inLists(records: readonly OutputRecord[]) {
  for (let from = 0; from < records.length; from += 100) yield records.slice(from, from + 100);
}

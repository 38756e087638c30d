import type { LineEnd } from "./line-end.js";

/** What separates and ends things in a CSV input. */
export interface CsvDialect {
  readonly delimiter: "," | "\t";
  /** Lines that start with this are skipped; null for none. */
  readonly comment: string | null;
  readonly lineEnd: LineEnd;
}

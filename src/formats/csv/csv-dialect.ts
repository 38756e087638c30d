import type { LineEnd } from "../line-end.js";
import type { InputReading } from "../../inputs/types.js";

/** What separates and ends things in a CSV input. */
export interface CsvDialect extends Pick<InputReading, "comment" | "spaced"> {
  readonly delimiter: NonNullable<InputReading["delimiter"]>;
  readonly lineEnd: LineEnd;
}

import { UsageError } from "../../core/errors.js";
import { limits } from "../reading/lines.js";
import type { ParsedLine } from "./ndjson-row.js";

/** Whether the first lines of an input may be those of NDJSON, with some broken ones among them. */
export function mayBeNdjson(lines: readonly ParsedLine[]): boolean {
  return lastWithoutObject(lines) === undefined;
}

/** Whether these lines are as long as one may be. */
export function isLong(lines: readonly ParsedLine[]): boolean {
  const [first, last] = [lines[0], lines.at(-1)];
  return first !== undefined && last!.line.end - first.line.end > limits.recordBytes;
}

export function notNdjson(input: string, lines: readonly ParsedLine[]): UsageError {
  const last = lastWithoutObject(lines)!.line.number;
  return new UsageError(
    "input_not_ndjson",
    `${input} doesn't look like NDJSON: no JSON object up to line ${last}`,
    { hint: "set the format: --from csv|tsv|text" },
  );
}

/** The line up to which an object should have come; undefined if one has, or still may. */
function lastWithoutObject(lines: readonly ParsedLine[]): ParsedLine | undefined {
  const object = lines.findIndex((line) => line.object !== null);
  const before = object === -1 ? lines : lines.slice(0, object);
  return isLong(before) ? before.at(-1) : before[limits.linesBeforeObject];
}

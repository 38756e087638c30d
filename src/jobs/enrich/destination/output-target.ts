import type { SinkFormat } from "../../../io/formats/types.js";
import type { ObjectUpload } from "../../../io/output/object/publish.js";
import type { Output } from "../../../io/output/output.js";

/** The output of a run, as it is found when the run begins. */
export interface OutputTarget extends Pick<Output, "name" | "file" | "gzip"> {
  readonly output: Output;
  /** Path from which the run's own file names derive; null for stdout and devices. */
  readonly base: string | null;
  readonly format: string;
  /** The format, if it is one of text; null for typed columns. */
  readonly text: SinkFormat | null;
  /** Of an object, which is uploaded from a file. */
  readonly upload?: ObjectUpload;
}

interface Result {
  /** Path from which the names of what a run leaves derive. */
  readonly base: string;
  readonly path: string;
  readonly format: string;
}

/**
 * What a run leaves.
 *
 * @param suffix that of a run with too many failures; the rows that a table does not take are NDJSON
 */
export function resultOf(
  { name, file, format }: Pick<OutputTarget, "name" | "file" | "format">,
  base: string,
  suffix: string,
): Result {
  const own = base + suffix;
  if (suffix === "" || file !== null) return { base: own, path: name + suffix, format };
  const path = `${own}.ndjson`;
  return { base: path, path, format: "ndjson" };
}

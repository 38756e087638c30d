import { addedMemberName } from "./added-names.js";
import type { EncoderOptions, SinkFormat } from "./types.js";

/**
 * Where the JSON of each line of an output keeps the row's status, from the outside in; null for
 * formats whose lines are no JSON objects of a row.
 */
export function statusPath(
  format: SinkFormat,
  { prefix, shape }: Pick<EncoderOptions, "prefix" | "shape">,
): readonly string[] | null {
  switch (format) {
    case "ndjson":
      return shape === "nested" ? [addedMemberName(prefix, []), "status"] : [`${prefix}status`];
    case "ecs":
      return ["repute", "status"];
    case "ocsf":
      return ["unmapped", "repute", "status"];
    case "csv":
    case "tsv":
    case "stix":
      return null;
  }
}

import { addedMemberName } from "./added-names.js";
import type { EncoderOptions, SinkFormat } from "./types.js";

/** Where the JSON of a row has its status and its verdict. */
export interface FactsPlace {
  /** Members that lead to the two, from the outside in. */
  readonly within: readonly string[];
  readonly status: string;
  readonly verdict: string;
}

/** Where each line of an output has the facts; null for formats whose lines are not the JSON of a row. */
export function factsPlace(
  format: SinkFormat,
  { prefix, shape }: Pick<EncoderOptions, "prefix" | "shape">,
): FactsPlace | null {
  switch (format) {
    case "ndjson":
      return shape === "nested"
        ? { within: [addedMemberName(prefix, [])], ...plainNames }
        : { within: [], status: `${prefix}status`, verdict: `${prefix}verdict` };
    case "ecs":
      return { within: ["repute"], ...plainNames };
    case "ocsf":
      return { within: ["unmapped", "repute"], ...plainNames };
    case "csv":
    case "tsv":
    case "stix":
      return null;
  }
}

const plainNames = { status: "status", verdict: "verdict" };

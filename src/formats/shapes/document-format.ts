import type { EnrichedRow } from "../../core/row.js";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { countJson } from "../ndjson/ndjson-output.js";
import { splitLines } from "../record-splitter.js";
import type { EncoderOptions, WritableFormat } from "../types.js";

/**
 * A format with one JSON document per row.
 *
 * @param within path of members to the object with status and verdict
 */
export function documentFormat(
  within: readonly string[],
  encoderOf: (options: EncoderOptions) => (enriched: EnrichedRow) => string,
): WritableFormat {
  return {
    extensions: [],
    write: (options) => jsonLinesEncoder(encoderOf(options)),
    split: splitLines,
    count: () => countJson(within),
    keepsReceived: () => true,
  };
}

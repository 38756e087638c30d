import type { EnrichedRow } from "../core/row.js";
import type { Encoder } from "./types.js";

/** An encoder of rows that need nothing before or between them. */
export function linesEncoder(encodeRow: (row: EnrichedRow) => string): Encoder {
  return {
    header: "",
    encode(rows) {
      let text = "";
      for (const row of rows) text += encodeRow(row);
      return text;
    },
  };
}

import { openCsv, openTsv } from "./csv.js";
import { openNdjson } from "./ndjson.js";
import { openText } from "./text.js";
import type { OpenFormat, SourceFormat } from "./types.js";

/** How each input format is opened. */
export const sources = {
  csv: openCsv,
  tsv: openTsv,
  ndjson: openNdjson,
  text: openText,
} satisfies Record<SourceFormat, OpenFormat>;

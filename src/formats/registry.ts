import { openCsv, openTsv } from "./csv/csv.js";
import { openNdjson } from "./ndjson/ndjson.js";
import { openText } from "./text/text.js";
import type { OpenFormat, SourceFormat } from "../inputs/types.js";

/** How each input format is opened. */
export const sources = {
  csv: openCsv,
  tsv: openTsv,
  ndjson: openNdjson,
  text: openText,
} satisfies Record<SourceFormat, OpenFormat>;

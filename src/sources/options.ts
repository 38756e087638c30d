import { z } from "zod";
import { option } from "../core/options.js";
import { sourceFormats } from "./types.js";

/** How the input is read. */
export const sourceOptions = z.strictObject({
  from: option(z.enum(sourceFormats).optional(), {
    description:
      "Format of the input; by default from the file's extension, csv where that says nothing. gzip is recognised.",
    value: "FORMAT",
  }),
  itemColumn: option(z.string().min(1).optional(), {
    description:
      "Column that holds the item (NDJSON: a dotted path); by default the first present of item, indicator, ioc, value, ip, domain, url",
    value: "NAME",
  }),
  kindColumn: option(z.string().min(1).optional(), {
    description: "Column that names the item's kind; overrides detection where it is recognised",
    value: "NAME",
  }),
  header: option(z.boolean().default(true), {
    description: "The first line names the columns; --no-header calls them column_1, column_2 …",
  }),
  comment: option(z.string().min(1).optional(), {
    description: "Skip lines that begin with this text",
    value: "TEXT",
  }),
});

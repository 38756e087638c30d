import { z } from "zod";
import { option } from "../core/options.js";
import { sourceFormats } from "../formats/registry.js";

/** How the input is read. */
export const sourceOptions = z.strictObject({
  from: option(z.enum(sourceFormats).optional(), {
    description:
      "Format of the input; by default from the file's extension, else from its first lines. gzip is detected automatically.",
    value: "FORMAT",
  }),
  itemColumn: option(z.string().min(1).optional(), {
    description:
      "Column that holds the item (NDJSON: a dotted path); by default found by the contents of the first 200 records",
    value: "NAME",
  }),
  kindColumn: option(z.string().min(1).optional(), {
    description:
      "Column that names the item's kind and overrides detection where it is recognised; by default a column of kind names beside the item column",
    value: "NAME",
  }),
  header: option(z.boolean().optional(), {
    description:
      "The first line is data; columns are named column_1, column_2, …; by default detected, --header says that it names the columns",
    negated: true,
  }),
  comment: option(z.string().min(1).optional(), {
    description:
      "Skip lines that begin with this text; by default # where the input begins with it",
    value: "TEXT",
  }),
});

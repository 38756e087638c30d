import { z } from "zod";
import { intents } from "../api/schema/vocabulary.js";
import { option, percentage, wholeNumber } from "../core/options.js";
import { type TagFormat, tagFormats } from "./list-formats/types.js";

const formatsList = z
  .string()
  .or(z.array(z.enum(tagFormats)))
  .transform((value) => (typeof value === "string" ? value.split(",").map((s) => s.trim()) : value))
  .pipe(z.array(z.enum(tagFormats, { error: `must be of ${tagFormats.join(", ")}` })).min(1))
  .transform((names): TagFormat[] => [...new Set(names)]);

const intentsList = z
  .string()
  .or(z.array(z.enum(intents)))
  .transform((value) => (typeof value === "string" ? value.split(",").map((s) => s.trim()) : value))
  .pipe(z.array(z.enum(intents, { error: `must be of ${intents.join(", ")}` })).min(1));

/** How the lists of tags are exported. */
export const tagExportOptions = z.strictObject({
  formats: option(formatsList.prefault("txt"), {
    description: `Formats of each list, comma-separated: ${tagFormats.join(", ")}`,
    value: "LIST",
  }),
  formulaGuard: option(z.boolean().default(true), {
    description:
      "Leave CSV cells as received. By default cells that a spreadsheet would run as a formula are neutralised",
  }),
  intent: option(intentsList.optional(), {
    description: `Only tags of these intents, comma-separated: ${intents.join(", ")}. Without it, also lists that are no reason to block anything`,
    value: "LIST",
  }),
  maxChange: option(percentage().prefault("50%"), {
    description:
      "How much a list of 100 addresses or more may grow or shrink; one that changes more is not replaced and the tag fails. 100% accepts any change",
    value: "N%",
  }),
  parallel: option(wholeNumber(1, 256).prefault(4), {
    description: "Tags to read in parallel",
    value: "N",
  }),
  prune: option(z.boolean().default(false), {
    description: "Delete lists in the folder that are not part of this export",
  }),
  restart: option(z.boolean().default(false), {
    description: "Start over: discard what an interrupted export left",
  }),
});

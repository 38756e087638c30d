import { z } from "zod";
import { option, wholeNumber } from "../core/options.js";
import { type TagFormat, tagFormats } from "./formats/types.js";

const formatsList = z
  .string()
  .or(z.array(z.enum(tagFormats)))
  .transform((value) => (typeof value === "string" ? value.split(",").map((s) => s.trim()) : value))
  .pipe(z.array(z.enum(tagFormats, { error: `must be of ${tagFormats.join(", ")}` })).min(1))
  .transform((names): TagFormat[] => [...new Set(names)]);

/** How the lists of tags are exported. */
export const tagExportOptions = z.strictObject({
  formats: option(formatsList.prefault("txt"), {
    description: `Formats of each list, joined by commas: ${tagFormats.join(", ")}`,
    value: "LIST",
  }),
  formulaGuard: option(z.boolean().default(true), {
    description:
      "Neutralise CSV cells that a spreadsheet would run as a formula; --no-formula-guard leaves them as received",
  }),
  keep: option(wholeNumber(1, 10_000).prefault(2), {
    description: "Exports that the folder holds, the current one included",
    value: "N",
  }),
  parallel: option(wholeNumber(1, 256).prefault(4), {
    description: "Tags that are read at once",
    value: "N",
  }),
  prune: option(z.boolean().default(false), {
    description:
      "Drop lists of the folder that are not exported this time, instead of keeping them",
  }),
  restart: option(z.boolean().default(false), {
    description: "Throw away what an interrupted export left, instead of going on from it",
  }),
});

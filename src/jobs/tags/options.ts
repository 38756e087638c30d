import { z } from "zod";
import { intents } from "../../core/endpoints/endpoint.js";
import { namesAmong, option } from "../../core/options.js";

/** Formats of a tag's list. Each is also the extension of its file. */
export const tagFormats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset"] as const;

export type TagFormat = (typeof tagFormats)[number];

export const tagExportOptions = z.strictObject({
  formats: option(namesAmong(tagFormats, "format").prefault("txt"), {
    description: `Formats of each list, comma-separated: ${tagFormats.join(", ")}`,
    value: "LIST",
  }),
  intent: option(namesAmong(intents, "intent").optional(), {
    description: `Only tags of these intents, comma-separated: ${intents.join(", ")}. Without it, also lists that are no reason to block anything`,
    value: "LIST",
  }),
  combine: option(
    z
      .string()
      .regex(
        /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/,
        "must be letters, digits, dots, dashes, underscores",
      )
      .refine((name) => !/^(?:index|current|generations)$|--/.test(name), {
        error: "must not be index, current or generations, or contain --",
      })
      .optional(),
    {
      description:
        "Also write one list of all tags of this export together, without duplicates, as NAME.txt and in the other formats",
      value: "NAME",
    },
  ),
  maxChange: option(percentage().prefault("50%"), {
    description:
      "How much a list of 100 addresses or more may grow or shrink; one that changes more is not replaced and the tag fails. 100% accepts any change",
    value: "N%",
  }),
});

/** A share such as `50%`, as a number from 0 to 1; also such a number. */
function percentage(): z.ZodType<number, number | string> {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d+(?:\.\d+)?%$/, "must be a share such as 50%")
        .transform((text) => Number(text.slice(0, -1)) / 100),
    ])
    .pipe(z.number().min(0).max(1, "must be at most 100%"));
}

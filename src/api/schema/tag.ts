import { z } from "zod";
import { intents, openEnum, snapshotLength, tagCategories, text } from "./vocabulary.js";

const name = text("Tag name, <group>:<name> (interface: Tag)");
const intent = openEnum(intents, "Intent of the activity that the tag stands for (interface: Tag)");
const category = openEnum(tagCategories, "What the tag names (interface: Tag)");
const description = text("What the tag means (interface: Tag)");

/**
 * Result of `/tags/{name}` (interface: Tag). The interface does not show which members may be null
 * or absent, so every member but `name` may be.
 */
export const tagSchema = z.looseObject({
  name,
  intent: intent.nullish(),
  category: category.nullish(),
  description: description.nullish(),
  references: z
    .array(
      z.looseObject({
        url: text("Address of the document (interface: Tag, references)").nullish(),
        description: text("What the document is (interface: Tag, references)").nullish(),
      }),
    )
    .describe("Where to read more (interface: Tag)")
    .nullish(),
  timeline: z
    .array(
      z.looseObject({
        date: text("When it was (interface: Tag, timeline)").nullish(),
        action: text("What was done (interface: Tag, timeline)").nullish(),
        description: text("More about it (interface: Tag, timeline)").nullish(),
      }),
    )
    .describe("History of the tag (interface: Tag)")
    .nullish(),
});

/** One entry of `GET /tags`. Outside the specification: known from the vendor's public client. */
const tagSummarySchema = z.looseObject({
  name,
  intent: intent.nullish(),
  category: category.nullish(),
  description: description
    .nullish()
    .describe("What the tag means; present when includeDescriptions=true was asked for"),
});

/** Result of `GET /tags`. Outside the specification: known from the vendor's public client. */
export const tagListSchema = z.array(tagSummarySchema);

export type Tag = z.infer<typeof tagSchema>;
export type TagSummary = z.infer<typeof tagSummarySchema>;

/** Result of `/tags/{name}/ips`: one page of the list (interface: Tag IP list). */
export const tagIpsSchema = z.looseObject({
  tag: text("The tag name (interface: Tag IP list)"),
  entries: z.array(z.string()).describe("IP addresses of this page (interface: Tag IP list)"),
  lastUpdate: text("Time of the last update of the data (interface: Tag IP list)"),
  total: z
    .number()
    .nonnegative()
    .describe("Entries in the whole list, over all pages (interface: Tag IP list)"),
  snapshot: z
    .string()
    .length(snapshotLength)
    .describe(
      "Token of exactly 24 characters that fixes the dataset for later pages (interface: Tag IP list)",
    ),
});

export type TagIps = z.infer<typeof tagIpsSchema>;

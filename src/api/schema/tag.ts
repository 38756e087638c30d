import { z } from "zod";
import { intents, openEnum, snapshotLength, tagCategories, describedText } from "./vocabulary.js";

const name = describedText("Tag name, <group>:<name>");
const intent = openEnum(intents, "Intent of the activity that the tag denotes");
const category = openEnum(tagCategories, "What the tag names");
const description = describedText("What the tag means");

/**
 * Result of `/tags/{name}`. The specification doesn't say which members may be null or absent, so every
 * member except `name` may be.
 */
export const tagSchema = z.looseObject({
  name,
  intent: intent.nullish(),
  category: category.nullish(),
  description: description.nullish(),
  references: z
    .array(
      z.looseObject({
        url: describedText("Address of the document").nullish(),
        description: describedText("What the document is").nullish(),
      }),
    )
    .describe("Where to read more")
    .nullish(),
  timeline: z
    .array(
      z.looseObject({
        date: describedText("Date of the event").nullish(),
        action: describedText("Action taken").nullish(),
        description: describedText("Details").nullish(),
      }),
    )
    .describe("History of the tag")
    .nullish(),
});

/** One entry of `GET /tags`. Not in the specification; known from the vendor's public client. */
const tagSummarySchema = z.looseObject({
  name,
  intent: intent.nullish(),
  category: category.nullish(),
  description: description
    .nullish()
    .describe("What the tag means; present if includeDescriptions=true was requested"),
});

/** Result of `GET /tags`. Not in the specification; known from the vendor's public client. */
export const tagListSchema = z.array(tagSummarySchema);

export type Tag = z.infer<typeof tagSchema>;
export type TagSummary = z.infer<typeof tagSummarySchema>;

/** Result of `/tags/{name}/ips`: one page of the list. */
export const tagIpsSchema = z.looseObject({
  tag: describedText("The tag name"),
  entries: z.array(z.string()).describe("IP addresses of this page"),
  lastUpdate: describedText("Time of the last update of the data"),
  total: z.number().nonnegative().describe("Entries in the whole list, over all pages"),
  snapshot: z
    .string()
    .length(snapshotLength)
    .describe("Token of exactly 24 characters that fixes the dataset for later pages"),
});

export type TagIps = z.infer<typeof tagIpsSchema>;

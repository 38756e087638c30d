import { z } from "zod";
import { snapshotLength } from "./vocabulary.js";
import { openEnum } from "../../../core/endpoints/vocabulary.js";

/**
 * Result of `/tags/{name}`. The specification doesn't say which members may be null or absent, so every
 * member except `name` may be.
 */
export const tagSchema = z.looseObject({
  name: z.string(),
  intent: openEnum.nullish(),
  category: openEnum.nullish(),
  description: z.string().nullish(),
  references: z
    .array(
      z.looseObject({
        url: z.string().nullish(),
        description: z.string().nullish(),
      }),
    )
    .nullish(),
  timeline: z
    .array(
      z.looseObject({
        date: z.string().nullish(),
        action: z.string().nullish(),
        description: z.string().nullish(),
      }),
    )
    .nullish(),
});

/** One entry of `GET /tags`. Not in the specification; known from the vendor's public client. */
const tagSummarySchema = z.looseObject({
  name: z.string(),
  intent: openEnum.nullish(),
  category: openEnum.nullish(),
  description: z.string().nullish(),
});

/** Result of `GET /tags`. Not in the specification; known from the vendor's public client. */
export const tagListSchema = z.array(tagSummarySchema);

export type Tag = z.infer<typeof tagSchema>;
export type TagSummary = z.infer<typeof tagSummarySchema>;

/** Result of `/tags/{name}/ips`: one page of the list. */
export const tagIpsSchema = z.looseObject({
  tag: z.string(),
  entries: z.array(z.string()),
  lastUpdate: z.string(),
  total: z.number().nonnegative(),
  snapshot: z.string().length(snapshotLength),
});

export type TagIps = z.infer<typeof tagIpsSchema>;

import { z } from "zod";
import { tagSchema } from "../../api/schema/tag.js";

/** What one reading of a tag's list is of: fixed by its first page, the same for all that follow. */
export const pinSchema = z.object({
  version: z.literal(1),
  /** SHA-256 of the service's address: another service's pages are of no use. */
  source: z.string(),
  tag: z.string(),
  snapshot: z.string(),
  lastUpdate: z.string(),
  total: z.number(),
  /** When the first page came; RFC 3339 UTC. */
  pinnedAt: z.string(),
  about: tagSchema,
});

export type Pin = z.output<typeof pinSchema>;

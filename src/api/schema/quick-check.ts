import { z } from "zod";
import { blocklistStatuses, intents, openEnum, resultTypes, describedText } from "./vocabulary.js";

/**
 * Result of `/quick-check/{item}`. The specification doesn't say which members may be null or absent,
 * so every member except `item` may be.
 */
export const quickCheckResultSchema = z.looseObject({
  item: describedText("The item"),
  serviceMailBlocklist: openEnum(
    blocklistStatuses,
    "Mail blocklist status, as in the query result",
  ).nullish(),
  type: openEnum(resultTypes, "Kind of the item").nullish(),
  bogon: z.boolean().describe("Whether the item is an address outside the public space").nullish(),
  intent: openEnum(intents, "Intent, as in the query result").nullish(),
  activity: z.boolean().describe("Whether activity was seen").nullish(),
});

export type QuickCheckResult = z.infer<typeof quickCheckResultSchema>;

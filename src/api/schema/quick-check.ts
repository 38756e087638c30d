import { z } from "zod";
import { blocklistStatuses, intents, openEnum, resultTypes, text } from "./vocabulary.js";

/**
 * Result of `/quick-check/{item}` (interface: Quick check result). The interface does not show
 * which members may be null or absent, so every member but `item` may be.
 */
export const quickCheckResultSchema = z.looseObject({
  item: text("The item (interface: Quick check result)"),
  serviceMailBlocklist: openEnum(
    blocklistStatuses,
    "Mail blocklist status, as in the query result (interface: Quick check result)",
  ).nullish(),
  type: openEnum(resultTypes, "Kind of the item (interface: Quick check result)").nullish(),
  bogon: z
    .boolean()
    .describe("Whether it is an address outside the public space (interface: Quick check result)")
    .nullish(),
  intent: openEnum(
    intents,
    "Intent, as in the query result (interface: Quick check result)",
  ).nullish(),
  activity: z
    .boolean()
    .describe("Whether activity was seen (interface: Quick check result)")
    .nullish(),
});

export type QuickCheckResult = z.infer<typeof quickCheckResultSchema>;

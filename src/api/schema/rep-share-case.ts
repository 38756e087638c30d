import { z } from "zod";
import { dateTime, openEnum, text } from "./field.js";
import { caseStates } from "./vocabulary.js";

/**
 * A reputation-share case (interface: Reputation-share case). The interface does not show which
 * members are required or left out when empty, so every member but `id` may be null or absent.
 */
export const repShareCaseSchema = z.looseObject({
  id: text("Unique identifier of the case (interface: Reputation-share case)"),
  customer_id: text("Customer of the case (interface: Reputation-share case)").nullish(),
  tenant_id: text("Tenant of the case (interface: Reputation-share case)").nullish(),
  event_count: z.int().describe("Events in the case (interface: Reputation-share case)").nullish(),
  event_types: z
    .array(z.string())
    .describe("Types of the events in the case (interface: Reputation-share case)")
    .nullish(),
  event_ips: z
    .array(z.string())
    .describe("IP addresses associated with the events (interface: Reputation-share case)")
    .nullish(),
  first_event_date: dateTime("First event (interface: Reputation-share case)").nullish(),
  last_event_date: dateTime("Most recent event (interface: Reputation-share case)").nullish(),
  state: openEnum(
    caseStates,
    "State of the case (interface: Reputation-share case; States and transitions)",
  ).nullish(),
});

export type RepShareCase = z.infer<typeof repShareCaseSchema>;

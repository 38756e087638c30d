import { z } from "zod";
import { caseStates, dateTime, openEnum, text } from "./vocabulary.js";

/** One customer (interface: Customer (operations interface)). */
export const customerSchema = z.looseObject({
  customer_id: text("Identifier of the customer (interface: Customer (operations interface))"),
  tenant_id: text(
    "Identifier of the tenant that the customer belongs to (interface: Customer (operations interface))",
  ).nullish(),
});

/** One page of `GET /beta/ops/customers` (interface: Customer (operations interface)). */
export const customersPageSchema = z.looseObject({
  items: z
    .array(customerSchema)
    .describe("Customers of this page (interface: Customer (operations interface))"),
  next_cursor: text(
    "Where the next page starts; absent, null or empty on the last page (interface: Customer (operations interface))",
  ).nullish(),
});

export type Customer = z.infer<typeof customerSchema>;

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

/**
 * Result of `GET /api/v1/cases/{caseId}/context`. The interface shows of it only that payload
 * expressions reach `s.resolver_data` and its fields (interface: Case context (case management
 * instance)); all else is kept as received.
 */
export const caseContextSchema = z.looseObject({
  s: z
    .looseObject({
      resolver_data: z
        .looseObject({})
        .describe(
          "Subscriber data by field name, e.g. CustomerEmail (interface: Case context (case management instance))",
        )
        .nullish(),
    })
    .describe("Root of payload expressions (interface: Case context (case management instance))")
    .nullish(),
});

export type CaseContext = z.infer<typeof caseContextSchema>;

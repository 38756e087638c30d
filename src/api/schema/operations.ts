import { z } from "zod";
import { caseStates, dateTime, openEnum, describedText } from "./vocabulary.js";

export const customerSchema = z.looseObject({
  customer_id: describedText("Identifier of the customer"),
  tenant_id: describedText("Identifier of the tenant that the customer belongs to").nullish(),
});

export const customersPageSchema = z.looseObject({
  items: z.array(customerSchema).describe("Customers of this page"),
  next_cursor: describedText(
    "Cursor of the next page; absent, null or empty on the last page",
  ).nullish(),
});

export type Customer = z.infer<typeof customerSchema>;

/**
 * A reputation-share case. The specification doesn't say which members are required, so every member
 * except `id` may be null or absent.
 */
export const repShareCaseSchema = z.looseObject({
  id: describedText("Unique identifier of the case"),
  customer_id: describedText("Customer of the case").nullish(),
  tenant_id: describedText("Tenant of the case").nullish(),
  event_count: z.int().describe("Events in the case").nullish(),
  event_types: z.array(z.string()).describe("Types of the events in the case").nullish(),
  event_ips: z.array(z.string()).describe("IP addresses associated with the events").nullish(),
  first_event_date: dateTime("First event").nullish(),
  last_event_date: dateTime("Most recent event").nullish(),
  state: openEnum(caseStates, "State of the case").nullish(),
});

export type RepShareCase = z.infer<typeof repShareCaseSchema>;

/**
 * Result of `GET /api/v1/cases/{caseId}/context`. The specification only shows that payload expressions
 * read `s.resolver_data` and its fields; everything else is kept as received.
 */
export const caseContextSchema = z.looseObject({
  s: z
    .looseObject({
      resolver_data: z
        .looseObject({})
        .describe("Subscriber data by field name, e.g. CustomerEmail")
        .nullish(),
    })
    .describe("Root of payload expressions")
    .nullish(),
});

export type CaseContext = z.infer<typeof caseContextSchema>;

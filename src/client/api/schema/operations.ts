import { z } from "zod";
import { dateTime, openEnum } from "../../../core/endpoints/vocabulary.js";

export const customerSchema = z.looseObject({
  customer_id: z.string(),
  tenant_id: z.string().nullish(),
});

export const customersPageSchema = z.looseObject({
  items: z.array(customerSchema),
  next_cursor: z.string().nullish(),
});

export type Customer = z.infer<typeof customerSchema>;

/**
 * A reputation-share case. The specification doesn't say which members are required, so every member
 * except `id` may be null or absent.
 */
export const repShareCaseSchema = z.looseObject({
  id: z.string(),
  customer_id: z.string().nullish(),
  tenant_id: z.string().nullish(),
  event_count: z.int().nullish(),
  event_types: z.array(z.string()).nullish(),
  event_ips: z.array(z.string()).nullish(),
  first_event_date: dateTime.nullish(),
  last_event_date: dateTime.nullish(),
  state: openEnum.nullish(),
});

export type RepShareCase = z.infer<typeof repShareCaseSchema>;

/**
 * Result of `GET /api/v1/cases/{caseId}/context`. The specification only shows that payload expressions
 * read `s.resolver_data` and its fields; everything else is kept as received.
 */
export const caseContextSchema = z.looseObject({
  s: z
    .looseObject({
      resolver_data: z.looseObject({}).nullish(),
    })
    .nullish(),
});

export type CaseContext = z.infer<typeof caseContextSchema>;

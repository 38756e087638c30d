import { z } from "zod";

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

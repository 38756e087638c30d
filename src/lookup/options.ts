import { z } from "zod";
import { duration, option, rate, wholeNumber } from "../core/options.js";
import { lookupEndpoints } from "../core/finding.js";

const lookupsList = z
  .string()
  .or(z.array(z.enum(lookupEndpoints)))
  .transform((value) => (typeof value === "string" ? value.split(",").map((s) => s.trim()) : value))
  .pipe(
    z
      .array(z.enum(lookupEndpoints, { error: "must be query, quick-check or query,quick-check" }))
      .min(1),
  )
  .transform((names) => [...new Set(names)]);

/** What is asked for each item, how fast and how often. */
export const lookupOptions = z.strictObject({
  lookups: option(lookupsList.prefault("query,quick-check"), {
    description: "Endpoints asked for each item: query,quick-check, query or quick-check",
    value: "LIST",
  }),
  concurrency: option(wholeNumber(1, 4096).prefault(32), {
    description: "Most requests open at once",
    value: "N",
  }),
  rate: option(rate().optional(), {
    description:
      "Most requests in a length of time (s, m, h, d), all endpoints together; default 100/s, with --local none",
    value: "N/s",
  }),
  retries: option(wholeNumber(0, 100).prefault(5), {
    description: "How often a lookup is tried again after a passing fault or throttling",
    value: "N",
  }),
  outagePatience: option(duration().prefault("10m"), {
    description:
      "How long to wait for a service from which nothing but errors comes, probing it; then the run ends and can be resumed",
    value: "TIME",
  }),
  partialRetries: option(wholeNumber(0, 100).prefault(2), {
    description: "How often a partial answer is asked for again",
    value: "N",
  }),
});

export type LookupSettings = z.output<typeof lookupOptions>;

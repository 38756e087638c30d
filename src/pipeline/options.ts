import { z } from "zod";
import { apiOptions } from "../api/options.js";
import { deadline, option, wholeNumber } from "../core/options.js";
import { lookupOptions } from "../lookup/options.js";
import { sinkOptions } from "../sinks/options.js";
import { sourceOptions } from "../sources/options.js";

/** What makes a finished run end with exit code 3. */
export const failOnLevels = ["failed", "partial", "invalid", "never"] as const;

/** How a run goes about its rows. */
export const runOptions = z.strictObject({
  output: option(z.string().min(1).prefault("-"), {
    description:
      "Where the rows go: a file (Parquet where it ends in .parquet), duckdb:FILE?table=NAME, postgres://…?table=NAME, or - for stdout",
    value: "OUT",
    alias: "o",
  }),
  unordered: option(z.boolean().default(false), {
    description: "Write rows as their lookups finish instead of in input order",
  }),
  tagIps: option(z.string().min(1).optional(), {
    description:
      "When the rows are done, export the addresses behind every tag that they brought to this folder; see tags export",
    value: "DIR",
  }),
  resume: option(z.boolean().default(false), {
    description:
      "Continue an interrupted run of the same output; where there is nothing to continue, start",
  }),
  restart: option(z.boolean().default(false), {
    description: "Throw away what an interrupted run of the same output left, and start anew",
  }),
  maxRequests: option(wholeNumber(1).optional(), {
    description:
      "Most requests that this call makes, repeated ones counted; then it stops with 75 and can be resumed",
    value: "N",
  }),
  deadline: option(deadline().optional(), {
    description:
      "When to stop with 75, resumable: the next time of day (05:30, local), or a length of time from now (2h)",
    value: "TIME",
  }),
  failOn: option(z.enum(failOnLevels).default("failed"), {
    description: "Exit with 3 when such rows exist; never: always 0 when the run is done",
    value: "STATUS",
  }),
});

/** Everything that `enrich` can be told. */
export const enrichOptions = z.strictObject({
  ...sourceOptions.shape,
  ...runOptions.shape,
  ...sinkOptions.shape,
  ...lookupOptions.shape,
  ...apiOptions.shape,
});

export type EnrichSettings = z.output<typeof enrichOptions>;

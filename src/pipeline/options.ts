import { z } from "zod";
import { apiOptions } from "../api/options.js";
import { deadline, option, wholeNumber } from "../core/options.js";
import { lookupOptions } from "../lookup/options.js";
import { sinkOptions } from "../outputs/options.js";
import { sourceOptions } from "../inputs/open-input.js";
import { failOn, maxFailed } from "./run/reading.js";

/** How a run goes about its rows. */
export const runOptions = z.strictObject({
  output: option(z.string().min(1).prefault("-"), {
    common: true,
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
    common: true,
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
  failOn: option(failOn().prefault("failed"), {
    description:
      "Exit with 3 when such rows exist: failed, partial, invalid or unsupported, each counting the ones before it too; with a share (unsupported:90%) when they make up at least that share of all rows; never: do not",
    value: "STATUS",
  }),
  maxFailed: option(maxFailed().prefault("50%"), {
    description:
      "Most failed rows: a number, or a share of the rows that were looked up, which applies from 100 of them on. Beyond it the run exits with 1, the rows are kept as OUT.failed, and an earlier OUT stays as it is. 100% turns this off",
    value: "N|P%",
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

/**
 * Stands for the embedded service in state, cache and messages: its port differs from run to run.
 *
 * @param synthetic seed of its invented answers, which differ from seed to seed
 */
export function embeddedServiceName(synthetic?: number): string {
  const name = "the embedded service";
  return synthetic === undefined ? name : `${name}, synthetic ${synthetic}`;
}

import { z } from "zod";
import { apiOptions } from "../api/options.js";
import { deadline, option, wholeNumber } from "../core/options.js";
import { lookupOptions } from "../lookup/options.js";
import { sinkOptions } from "../outputs/options.js";
import { sourceOptions } from "../inputs/open-input.js";
import { failOn, maxFailed } from "./failure-limits.js";

/** How a run goes about its rows. */
export const runOptions = z.strictObject({
  output: option(z.string().min(1).prefault("-"), {
    common: true,
    description:
      "Output: a file, DIR/ for a data set, s3://BUCKET/KEY, duckdb:FILE?table=NAME, postgres://…?table=NAME, or - for stdout",
    value: "OUT",
    alias: "o",
  }),
  unordered: option(z.boolean().default(false), {
    description: "Write rows as their lookups finish instead of in input order",
  }),
  tagIps: option(z.string().min(1).optional(), {
    description:
      "After the rows, export the IP addresses of every tag seen in the run to this folder. See repute tags export",
    value: "DIR",
  }),
  stateDir: option(z.string().min(1).optional(), {
    description:
      "Folder for the state and manifest of a run without an output file: stdout, tables [default $XDG_STATE_HOME/repute, else ~/.local/state/repute]",
    value: "DIR",
  }),
  resume: option(z.boolean().default(false), {
    common: true,
    description:
      "Continue an interrupted run. Safe in a cron job: with nothing to resume, it starts; where the input or the settings have changed, it starts anew with the answers so far",
  }),
  restart: option(z.boolean().default(false), {
    description: "Start over: discard what an interrupted run left",
  }),
  maxRequests: option(wholeNumber(1).optional(), {
    description:
      "Stop after this many requests, retries included. The run exits with 75 and can be resumed",
    value: "N",
  }),
  deadline: option(deadline().optional(), {
    description:
      "Stop at a time of day (05:30, local time) or after a duration (2h). The run exits with 75 and can be resumed",
    value: "TIME",
  }),
  failOn: option(failOn().prefault("failed"), {
    description:
      "Exit with 3 if the output has rows of this status: failed, partial, invalid, unsupported or never. Each includes the ones before it. unsupported:90% sets a minimum share of all rows",
    value: "STATUS",
  }),
  maxFailed: option(maxFailed().prefault("50%"), {
    description:
      "Maximum failed rows: a number, or a share of the rows that were looked up. A share applies from 100 such rows on. Beyond it the run exits with 1, keeps the rows as OUT.failed and leaves an earlier OUT untouched. 100% disables the limit",
    value: "N|P%",
  }),
});

/** All options of `enrich`. */
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

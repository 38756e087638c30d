import { z } from "zod";
import { option } from "../../../core/options.js";
import {
  defaultPrefix,
  readPrefix,
  sinkOptions,
  tableOptions,
} from "../../../io/output/options.js";
import { sourceOptions } from "../../../io/formats/source-options.js";
import { defineCommand } from "../../command.js";
import { runEnrichJob, jobExitCodes, runGroups } from "./enrich-job.js";
import { withSession } from "../../sessions.js";

const { Service, Lookups, Pace } = runGroups;
const { limit: _limit, ...run } = runGroups.Run;
const { against: _against, ...reports } = runGroups["Reports and monitoring"];
const { to } = sinkOptions.shape;

export const retryCommand = defineCommand({
  name: "retry",
  isJob: true,
  usage: "OUT [-o OUT2] [flags]",
  summary: "repeat the failed and partial lookups of an earlier output",
  description: [
    "Reads an output of repute, looks up the items of its failed and partial rows again, and replaces those rows. All other rows, and rows without a better answer, are copied unchanged. Run ID and row numbers stay the same.",
    "The output is replaced when the retry ends, unless -o names another one.",
    "For a database table, run repute enrich again with --mode merge, or give it a query for the failed rows as input.",
  ],
  operand: ["OUT", "earlier output: CSV, TSV, NDJSON or Parquet, gzip is detected"],
  groups: {
    Output: {
      output: option(z.string().min(1).optional(), {
        description:
          "Output: a file of the same format, or - for stdout [default: OUT is replaced]",
        value: "OUT2",
        alias: "o",
      }),
      to,
      prefix: readPrefix,
    },
    Service,
    Lookups,
    Pace,
    Run: run,
    "Reports and monitoring": reports,
  },
  examples: {
    "repute retry enriched.csv": "retry in the morning what failed at night",
    "repute retry enriched.csv -o enriched.2.csv --lookups query":
      "retry only the query lookups, and write to another file",
  },
  exitCodes: jobExitCodes,
  run: async (call) => {
    const { settings: own, operand: path } = call;
    const { namesOfRetry, retryOutput } = await import("../../../jobs/retry/retry-output.js");
    const settings = {
      ...sourceOptions.parse({}),
      raw: false,
      distinct: false,
      ...own,
      ...(await namesOfRetry(path, own)),
      prefix: own.prefix ?? defaultPrefix,
      ...tableOptions.parse({}),
    };
    return withSession("intel", call, (session) =>
      runEnrichJob({ ...call, settings }, session, { path }, (job) => retryOutput(job, own.prefix)),
    );
  },
});

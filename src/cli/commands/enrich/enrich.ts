import { sourceOptions } from "../../../io/input/source-options.js";
import { defineCommand } from "../../command.js";
import { enrichInput, runEnrichJob } from "./enrich-job.js";
import { jobExitCodes, runGroups } from "./job-options.js";
import { withServices } from "../../services/services.js";

export const enrichCommand = defineCommand({
  name: "enrich",
  isJob: true,
  usage: "[input...] [-o OUT] [flags]",
  summary: "add the reputation of its item to every row of a file",
  description: [
    "Looks up the item in every row of a CSV, TSV, NDJSON or text file and writes the rows in input order, unchanged, with the answer in added columns. A failed lookup is a row with a status, never a missing row.",
    "OUT appears once it is complete, with OUT.manifest.json beside it as the record of the run. To continue an interrupted run, repeat the command with --resume.",
  ],
  operands: [
    [
      "input",
      "files and folders to read in order as one input, or - for stdin [default -]; gzip is detected. Also FILE.parquet, and duckdb:FILE or postgres://USER@HOST/DB with ?table=NAME or ?query=SELECT…",
    ],
  ],
  groups: {
    Input: sourceOptions.shape,
    ...runGroups,
  },
  examples: {
    "repute enrich dump.csv -o enriched.csv --local":
      "try it with the embedded service: nothing leaves this machine",
    "repute enrich dump.csv -o enriched.csv --intel-url https://intel.example/beta":
      "query the service, with at most 100 requests per second",
    "repute enrich reports/*.ndjson.gz more/ -o all.ndjson.gz --item-column source.ip":
      "read several files and folders as one input, the item from a nested member; gzip on both sides",
    "repute enrich 'duckdb:intel.duckdb?query=SELECT id, ioc FROM iocs' -o 'duckdb:intel.duckdb?table=nightly'":
      "append the rows of a query to a table; also postgres://USER@HOST/DB?table=NAME, or FILE.parquet",
    "zcat feed.tsv.gz | repute enrich --from tsv --no-header --comment '#' --lookups quick-check > feed.csv":
      "read rows without a header from a pipe, do only the quick check, write to stdout",
    "repute enrich dump.csv -o 'nights/{date}.csv' --report 'nights/{date}.html' --against previous --resume":
      "in a crontab: continue an interrupted run, keep every night, show what changed since the last",
  },
  exitCodes: jobExitCodes("done, but the output has rows that --fail-on counts (default: failed)"),
  run: async (call) => {
    const input = await enrichInput(call.operands, call.context, call.settings);
    return withServices(["intel"], call, ({ intel }) => runEnrichJob(call, intel, input));
  },
});

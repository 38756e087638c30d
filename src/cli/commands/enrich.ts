import { sourceOptions } from "../../inputs/open-input.js";
import { defineCommand } from "../command.js";
import { enrichInput, jobExitCodes, runEnrichJob, runGroups } from "../run/enrich-job.js";
import { withServices } from "../services/services.js";

/** The main job: every row of a file comes out as one row with its reputation. */
export const enrichCommand = defineCommand({
  name: "enrich",
  usage: "[input] [-o OUT] [flags]",
  summary: "look up the item of every row of a file and write the rows with what was found",
  description: [
    "Looks up the item of every row of a CSV, TSV, NDJSON or text file and writes each row, in input order and unchanged, with what was found beside it. A lookup that fails is a row with a status, never a missing row.",
    "The file OUT appears when it is whole; OUT.manifest.json beside it is the record of the run. The same command with --resume continues an interrupted run.",
  ],
  operands: [["input", "file to read, or - for stdin [default -]; gzip is recognised"]],
  groups: { Input: sourceOptions.shape, ...runGroups },
  examples: {
    "repute enrich dump.csv -o enriched.csv --local":
      "rehearses with the embedded service: nothing leaves the machine",
    "repute enrich dump.csv -o enriched.csv --intel-url https://intel.example/beta":
      "asks the service, at most 100 requests a second",
    "repute enrich dump.csv -o 'duckdb:intel.duckdb?table=nightly'":
      "adds the rows to a table; so does postgres://USER@HOST/DB?table=NAME; FILE.parquet is a file",
    "repute enrich hits.ndjson.gz -o hits.enriched.ndjson.gz --item-column source.ip":
      "takes the item from a member within each record; gzip on both sides",
    "zcat feed.tsv.gz | repute enrich --from tsv --no-header --comment '#' --lookups quick-check > feed.csv":
      "reads rows without a header from a pipe, asks the quick check alone and writes to stdout",
    "repute enrich dump.csv -o enriched.csv --resume":
      "goes on where an interrupted run stopped; what was answered is not asked again",
  },
  exitCodes: jobExitCodes(
    "done, but rows exist that --fail-on counts: failed ones by default, and with a share as many of them",
  ),
  run: (call) => {
    const input = enrichInput(call.operands, call.context);
    return withServices(["intel"], call, ({ intel }) => runEnrichJob(call, intel, { input }));
  },
});

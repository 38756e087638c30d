import { sourceOptions } from "../../inputs/open-input.js";
import { chunkOptions } from "../../pipeline/chunks/options.js";
import type { EnrichJob } from "../../pipeline/types.js";
import type { WorkersOptions } from "../../pipeline/workers/enrich-with-workers.js";
import { defineCommand } from "../command.js";
import { enrichInput, jobExitCodes, runEnrichJob, runGroups } from "../run/enrich-job.js";
import { withServices } from "../services/services.js";

const { chunk, workers, rowsPerChunk } = chunkOptions.shape;

/** The main job: each input row becomes one output row with the reputation of its item. */
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
    "Many machines": { chunk, workers, rowsPerChunk },
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
    "repute enrich dump.csv -o enriched.csv --resume":
      "continue an interrupted run; finished lookups are not repeated",
  },
  exitCodes: jobExitCodes("done, but the output has rows that --fail-on counts (default: failed)"),
  run: async (call) => {
    const { chunk, workers, rowsPerChunk, ...settings } = call.settings;
    if (chunk !== undefined) {
      const { runChunkJob } = await import("../run/chunk-job.js");
      return runChunkJob({ ...call, settings }, chunk);
    }
    const input = await enrichInput(call.operands, call.context, settings);
    const load =
      workers === undefined
        ? undefined
        : loadWorkers({
            workers,
            rowsPerChunk: call.given.has("rowsPerChunk") ? rowsPerChunk : rowsOfWorker,
          });
    return withServices(["intel"], call, ({ intel }) =>
      runEnrichJob({ ...call, settings }, intel, { input }, load),
    );
  },
});

/** Rows of a worker's chunk: few, so that all workers end at about the same time. */
const rowsOfWorker = 20_000;

/** The main job, spread over processes. */
function loadWorkers(options: WorkersOptions) {
  return async () => {
    const { enrichWithWorkers } = await import("../../pipeline/workers/enrich-with-workers.js");
    return (job: EnrichJob) => enrichWithWorkers(job, options);
  };
}

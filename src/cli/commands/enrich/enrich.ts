import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { sourceOptions } from "../../../inputs/source-options.js";
import { isObjectAddress } from "../../../s3/address.js";
import { chunkOptions } from "../../../cluster/chunks/options.js";
import type { QueueOptions } from "../../../cluster/queue/enrich-by-queue.js";
import { defineCommand } from "../../command.js";
import { enrichInput, type Perform, runEnrichJob } from "./enrich-job.js";
import { jobExitCodes, runGroups } from "./job-options.js";
import { withServices } from "../../services/services.js";

const { chunk, workers, work, rowsPerChunk } = chunkOptions.shape;

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
    "Many machines": { chunk, workers, work, rowsPerChunk },
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
    const { chunk, workers, work, rowsPerChunk, ...settings } = call.settings;
    if (work !== undefined && workers === undefined) throw workOfWorkers();
    if (chunk !== undefined) {
      const { runChunkJob } = await import("./chunk-job.js");
      return runChunkJob({ ...call, settings }, chunk);
    }
    const input = await enrichInput(call.operands, call.context, settings);
    const kept = work === undefined ? {} : { isKept: () => hasPlan(work) };
    const spread = {
      work,
      rowsPerChunk: call.given.has("rowsPerChunk") ? rowsPerChunk : rowsOfWorker,
      environment: call.context.env,
    };
    const perform = workers === undefined ? undefined : spreadBy({ ...spread, queue: workers });
    return withServices(["intel"], call, ({ intel }) =>
      runEnrichJob({ ...call, settings, ...kept }, intel, input, perform),
    );
  },
});

/** Rows of a worker's chunk: few, so that all workers end at about the same time. */
const rowsOfWorker = 20_000;

function spreadBy(options: QueueOptions): Perform {
  return async (job) => {
    const { enrichByQueue } = await import("../../../cluster/queue/enrich-by-queue.js");
    return enrichByQueue(job, options);
  };
}

function workOfWorkers(): UsageError {
  return new UsageError("workers_option", "--work is the folder of --workers", {
    hint: "add --workers redis://HOST/DB, or omit --work",
  });
}

/** Whether a work folder may hold a run that can be resumed. */
function hasPlan(work: string): boolean {
  const names = ["plan.json", "finished.json"];
  return isObjectAddress(work) || names.some((name) => existsSync(join(work, name)));
}

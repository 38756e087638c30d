import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { sourceOptions } from "../../../inputs/source-options.js";
import { isObjectAddress } from "../../../s3/address.js";
import { chunkOptions } from "../../../cluster/chunks/options.js";
import type { QueueOptions } from "../../../cluster/queue/enrich-by-queue.js";
import type { PlannedSettings, WorkPlan } from "../../../cluster/chunks/work-plan.js";
import { type CommandCall, defineCommand } from "../../command.js";
import { flagName } from "../../options/option-spec.js";
import { enrichInput, type EnrichJobSettings, type Perform, runEnrichJob } from "./enrich-job.js";
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
    if (chunk !== undefined) return runChunkJob({ ...call, settings }, chunk);
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

type ChunkCall = CommandCall<EnrichJobSettings>;

/** Does one chunk of a work folder, the operand of the call. */
async function runChunkJob(call: ChunkCall, chunk: number): Promise<number> {
  const { operands } = call;
  const [path] = operands;
  if (path === undefined || operands.length > 1) {
    throw new UsageError("argument_missing", "--chunk needs one folder made by repute split", {
      hint: "repute enrich WORK --chunk N",
    });
  }
  // A chunk is a file, although the command names only its folder.
  call.watch?.follow({ toStdout: true });
  const [{ runChunk }, { openWork }, { readPlan }] = await Promise.all([
    import("../../../cluster/chunks/run-chunk.js"),
    import("../../../cluster/chunks/work-folder.js"),
    import("../../../cluster/chunks/work-plan.js"),
  ]);
  const work = openWork(path);
  const plan = await readPlan(work);
  checkOptions(call, plan);
  const settings = {
    ...call.settings,
    output: path,
    // The merge judges all chunks together. A scheduler takes other codes for a task to repeat.
    ...(call.given.has("failOn") ? {} : { failOn: { statuses: [], percent: null } }),
  };
  return withServices(["intel"], call, ({ intel }) =>
    runEnrichJob({ ...call, settings, isKept: () => true }, intel, { path }, async (job) => {
      const { result, wasDone } = await runChunk(job, work, plan, chunk);
      if (wasDone) job.onNotice?.(`chunk ${chunk} was already done`);
      return result.manifest;
    }),
  );
}

/** Options that a chunk does not have, and what to do instead. */
const refused: readonly (readonly [hint: string, keys: readonly string[]])[] = [
  [
    "give it to repute split, for all chunks",
    [
      "from",
      "itemColumn",
      "kindColumn",
      "header",
      "delimiter",
      "comment",
      "encoding",
      "sheet",
      "rowsPerChunk",
    ],
  ],
  ["give it to repute merge, for all chunks", ["output", "rejects", "maxFailed"]],
  ["a name that ends in .gz compresses the output of repute merge", ["gzip"]],
  ["once the chunks are merged: repute tags export --seen-in OUT -o DIR", ["tagIps"]],
  ["once the chunks are merged: repute report OUT -o REPORT.html", ["report"]],
  [
    "a chunk is a part of one input: run enrich on the whole input for it",
    ["rowsPerFile", "recursive", "raw", "limit"],
  ],
];

const plannedKeys: readonly (keyof PlannedSettings)[] = [
  "to",
  "prefix",
  "shape",
  "esIndex",
  "esAction",
  "esId",
  "formulaGuard",
  "columns",
  "only",
  "distinct",
  "lookups",
  "bogons",
  "urlQuery",
];

/** Refuses options that would make this chunk differ from the others, or that do nothing here. */
function checkOptions({ given, settings }: ChunkCall, plan: WorkPlan): void {
  const own: Readonly<Record<string, unknown>> = settings;
  for (const [hint, keys] of refused) {
    const found = keys.find((key) => {
      const changesRows = (key === "raw" || key === "limit") && Boolean(own[key]);
      return changesRows || given.get(key)?.level === "flag";
    });
    if (found === undefined) continue;
    throw new UsageError("chunk_option", `--${flagName(found)} does not go with --chunk`, { hint });
  }
  for (const key of plannedKeys) {
    const value = plan.settings[key];
    const setting = given.get(key);
    if (setting === undefined || JSON.stringify(own[key]) === JSON.stringify(value)) continue;
    throw new UsageError(
      "chunk_option",
      `${setting.name} differs from the plan, which has ${JSON.stringify(value ?? "none")}`,
      { hint: "leave it out here; to change it for all chunks, split again" },
    );
  }
}

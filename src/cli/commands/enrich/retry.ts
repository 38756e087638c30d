import { z } from "zod";
import { option } from "../../../core/options.js";
import { outputBase } from "../../../run/destination/check-paths.js";
import { asOutputName } from "../../../retry/data-set-rows.js";
import { statePath } from "../../../run/state/state-folder.js";
import { defaultPrefix, earlierPrefix, sinkOptions } from "../../../outputs/options.js";
import { sourceOptions } from "../../../inputs/open-input.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { jobExitCodes, runEnrichJob, runGroups } from "./enrich-job.js";
import { withServices } from "../../services/services.js";
import { retrySuffix } from "../../../core/files/output-names.js";

const { output, unordered, tagIps, report } = runGroups.Output;
const { to, rejects, formulaGuard } = sinkOptions.shape;

const groups = {
  ...runGroups,
  Input: {
    run: option(z.string().min(1).optional(), {
      description: "Run in a table whose rows are filled in: its rep_run_id [default: the newest]",
      value: "ID",
    }),
  },
  Output: { output, to, rejects, prefix: earlierPrefix, formulaGuard, unordered, tagIps, report },
};

/** Repeats the failed and partial lookups of an earlier run. */
export const retryCommand = defineCommand({
  name: "retry",
  isJob: true,
  usage: "OUT [-o OUT2] [flags]",
  summary: "repeat the failed and partial lookups of an earlier output",
  description: [
    "Reads an output of repute, looks up the items of its failed and partial rows again, and replaces those rows. All other rows, and rows without a better answer, are copied unchanged.",
    "A data set (a folder with _manifest.json) is replaced, unless -o names another folder: its files with improved rows are written again, and the others stay.",
    "The rows of a table are filled in where they are, without -o: those of the newest run, or of the one that --run names. What is filled in stays, whatever interrupts the retry.",
  ],
  operands: [
    [
      "OUT",
      "earlier output: CSV, TSV, NDJSON or Parquet, gzip is detected; a data set: DIR/; or a table: duckdb:FILE?table=NAME, postgres://…?table=NAME",
    ],
  ],
  onlyOperand: { what: "an earlier output" },
  groups,
  examples: {
    "repute retry enriched.csv -o enriched.2.csv": "retry in the morning what failed at night",
    "repute retry enriched.csv -o enriched.2.csv --lookups query --rejects left.csv":
      "retry only the query, and write what still fails to a separate file",
    "repute retry enriched.parquet -o enriched.2.parquet":
      "retry a Parquet output; its rows keep their run and number",
    "repute retry enriched/": "retry a data set and replace it",
    "repute retry 'duckdb:intel.duckdb?table=enriched'":
      "fill in the rows of a table where they are",
    "repute retry enriched.csv -o enriched.2.csv --resume": "continue an interrupted retry",
  },
  exitCodes: jobExitCodes(),
  run: retry,
});

async function retry(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { run = null, ...own } = call.settings;
  const path = call.operand;
  const isTable = /^(?:duckdb|postgres(?:ql)?):/i.test(path);
  const replaced = isTable ? path : asOutputName(path);
  const output = own.output === "-" && (isTable || replaced.endsWith("/")) ? replaced : own.output;
  const settings = {
    ...sourceOptions.parse({}),
    gzip: false,
    raw: false,
    ...own,
    prefix: own.prefix ?? defaultPrefix,
    output,
    onlyNew: false,
  };
  const stateFolder = isTable ? statePath(outputBase(path, own.stateDir) + retrySuffix) : undefined;
  return withServices(["intel"], call, ({ intel }) =>
    runEnrichJob({ ...call, settings, stateFolder }, intel, { input: { path } }, async () => {
      const { retryOutput } = await import("../../../retry/retry-output.js");
      return (job) => retryOutput(job, { run, prefix: own.prefix });
    }),
  );
}

import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { runOptions } from "../../pipeline/options.js";
import { sinkOptions } from "../../outputs/options.js";
import { sourceOptions } from "../../inputs/options.js";
import { cliOptions } from "../options/cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { runEnrichJob } from "../run/enrich-job.js";
import type { LoadWork } from "../run/enrich-job.js";
import { jobExitCodes, runGroups } from "../run/run-help.js";
import { oneOperand } from "../options/operands.js";
import { withServices } from "../services/services.js";

const { to, rejects, prefix, formulaGuard } = sinkOptions.shape;

const options = z.strictObject({
  ...runOptions.shape,
  to,
  rejects,
  prefix,
  formulaGuard,
  ...lookupOptions.shape,
  ...apiOptions.shape,
  ...cliOptions.shape,
});

/** Asks again for what an earlier run could not get. */
export const retryCommand = defineCommand({
  name: "retry",
  usage: "OUT -o OUT2 [flags]",
  summary: "ask again for the failed and partial rows of an earlier output",
  description: [
    "Reads an output of repute, asks again for the items of its failed and partial rows and fills them in place. Every other row, and every row that comes to nothing better, is copied to the letter.",
  ],
  operands: [["OUT", "earlier output: CSV, TSV or NDJSON; gzip is recognised"]],
  options,
  groups: [
    {
      title: "Output",
      keys: ["output", "to", "rejects", "prefix", "formulaGuard", "unordered", "tagIps"],
    },
    { title: "Service", keys: ["intelUrl", "local", "timeout", "apiKeyFile"] },
    runGroups.lookups,
    runGroups.run,
  ],
  examples: [
    {
      command: "repute retry enriched.csv -o enriched.2.csv",
      what: "asks again in the morning for what failed in the night",
    },
    {
      command: "repute retry enriched.ndjson.gz -o enriched.2.ndjson.gz --partial-retries 5",
      what: "is more patient with partial answers",
    },
    {
      command: "repute retry enriched.csv -o enriched.2.csv --lookups query --rejects left.csv",
      what: "asks the query alone, and keeps apart what still came to nothing",
    },
    {
      command: "repute retry enriched.csv -o enriched.2.csv --resume",
      what: "goes on where an interrupted retry stopped",
    },
  ],
  exitCodes: jobExitCodes(),
  run: retry,
});

async function retry(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const path = oneOperand("retry", "an earlier output", call.operands);
  const settings = { ...sourceOptions.parse({}), ...call.settings };
  return withServices(["intel"], call, ({ intel }) =>
    runEnrichJob({ ...call, settings }, intel, { input: { path } }, loadRetry),
  );
}

const loadRetry: LoadWork = async () =>
  (await import("../../pipeline/retry/retry-output.js")).retryOutput;

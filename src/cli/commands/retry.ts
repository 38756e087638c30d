import { sinkOptions } from "../../outputs/options.js";
import { sourceOptions } from "../../inputs/open-input.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { jobExitCodes, runEnrichJob, runGroups } from "../run/enrich-job.js";
import { withServices } from "../services/services.js";

const { output, unordered, tagIps } = runGroups.Output;
const { to, rejects, prefix, formulaGuard } = sinkOptions.shape;

const groups = {
  ...runGroups,
  Output: { output, to, rejects, prefix, formulaGuard, unordered, tagIps },
};

/** Asks again for what an earlier run could not get. */
export const retryCommand = defineCommand({
  name: "retry",
  usage: "OUT -o OUT2 [flags]",
  summary: "ask again for the failed and partial rows of an earlier output",
  description: [
    "Reads an output of repute, asks again for the items of its failed and partial rows and fills them in place. Every other row, and every row that comes to nothing better, is copied to the letter.",
  ],
  operands: [["OUT", "earlier output: CSV, TSV or NDJSON; gzip is recognised"]],
  onlyOperand: { what: "an earlier output" },
  groups,
  examples: {
    "repute retry enriched.csv -o enriched.2.csv":
      "asks again in the morning for what failed in the night",
    "repute retry enriched.ndjson.gz -o enriched.2.ndjson.gz --partial-retries 5":
      "is more patient with partial answers",
    "repute retry enriched.csv -o enriched.2.csv --lookups query --rejects left.csv":
      "asks the query alone, and keeps apart what still came to nothing",
    "repute retry enriched.csv -o enriched.2.csv --resume":
      "goes on where an interrupted retry stopped",
  },
  exitCodes: jobExitCodes(),
  run: retry,
});

async function retry(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const settings = { ...sourceOptions.parse({}), ...call.settings };
  return withServices(["intel"], call, ({ intel }) =>
    runEnrichJob({ ...call, settings }, intel, { input: { path: call.operand } }, async () => {
      const { retryOutput } = await import("../../pipeline/retry/retry-output.js");
      return retryOutput;
    }),
  );
}

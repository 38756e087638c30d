import { sinkOptions } from "../../outputs/options.js";
import { sourceOptions } from "../../inputs/open-input.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { jobExitCodes, runEnrichJob, runGroups } from "../run/enrich-job.js";
import { withServices } from "../services/services.js";

const { output, unordered, tagIps, report } = runGroups.Output;
const { to, rejects, prefix, formulaGuard } = sinkOptions.shape;

const groups = {
  ...runGroups,
  Output: { output, to, rejects, prefix, formulaGuard, unordered, tagIps, report },
};

/** Repeats the failed and partial lookups of an earlier run. */
export const retryCommand = defineCommand({
  name: "retry",
  isJob: true,
  usage: "OUT -o OUT2 [flags]",
  summary: "repeat the failed and partial lookups of an earlier output",
  description: [
    "Reads an output of repute, looks up the items of its failed and partial rows again, and replaces those rows. All other rows, and rows without a better answer, are copied unchanged.",
  ],
  operands: [["OUT", "earlier output: CSV, TSV or NDJSON; gzip is detected"]],
  onlyOperand: { what: "an earlier output" },
  groups,
  examples: {
    "repute retry enriched.csv -o enriched.2.csv": "retry in the morning what failed at night",
    "repute retry enriched.ndjson.gz -o enriched.2.ndjson.gz --partial-retries 5":
      "re-ask more often for partial answers",
    "repute retry enriched.csv -o enriched.2.csv --lookups query --rejects left.csv":
      "retry only the query, and write what still fails to a separate file",
    "repute retry enriched.csv -o enriched.2.csv --resume": "continue an interrupted retry",
  },
  exitCodes: jobExitCodes(),
  run: retry,
});

async function retry(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const settings = { ...sourceOptions.parse({}), gzip: false, raw: false, ...call.settings };
  return withServices(["intel"], call, ({ intel }) =>
    runEnrichJob({ ...call, settings }, intel, { input: { path: call.operand } }, async () => {
      const { retryOutput } = await import("../../pipeline/retry/retry-output.js");
      return retryOutput;
    }),
  );
}

import { option } from "../../../core/options.js";
import { sinkOptions } from "../../../outputs/options.js";
import { runOptions } from "../../../run/options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { cliOptions } from "../../options/option-spec.js";
import { jobExitCodes } from "../enrich/job-options.js";
import { printSummary } from "../enrich/summary.js";
import { exitCodeOfManifest } from "../results/failed-rows.js";
import { unattendedOptions } from "../../unattended/options.js";

const { maxFailed, minRows, failOn } = runOptions.shape;
const { output, rejects, mode, key } = sinkOptions.shape;
const { color, json, quiet } = cliOptions.shape;

const groups = {
  Output: {
    output: option(output, {
      common: true,
      description: "Output: a file in the format of the chunks, or - for stdout",
      value: "OUT",
      alias: "o",
    }),
    rejects,
    mode,
    key,
  },
  Run: { failOn, maxFailed, minRows, color, json, quiet, ...unattendedOptions.shape },
};

export const mergeCommand = defineCommand({
  name: "merge",
  isJob: true,
  usage: "WORK -o OUT [flags]",
  summary: "join the chunks of a divided input into one output",
  description: [
    "Checks that every chunk of the plan is done and that its rows and checksum are right, then writes one output with one manifest, as a single run would have. If chunks are missing or damaged, it names them and writes nothing. WORK stays as it is.",
  ],
  operands: [["WORK", "folder made by repute split"]],
  operandCount: "one",
  groups,
  examples: {
    "repute merge work -o enriched.csv": "write the output and its manifest",
    "repute merge work -o enriched.parquet":
      "publish the chunks of repute split --to parquet; a table works, too",
  },
  exitCodes: jobExitCodes().filter(([code]) => code !== "75"),
  run: merge,
});

async function merge(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operand, shownCommand: command, watch } = call;
  const [{ mergeWork }, { openWork }, { readPlan }] = await Promise.all([
    import("../../../cluster/chunks/merge-work.js"),
    import("../../../cluster/chunks/work-folder.js"),
    import("../../../cluster/chunks/work-plan.js"),
  ]);
  const work = openWork(operand);
  const plan = await readPlan(work);
  const manifest = await mergeWork({
    work,
    plan,
    settings,
    stdout: context.stdout,
    command,
    signal: context.signal,
    clock: context.clock,
    onWarning: (message) => context.reporter.warning(message),
  });
  watch?.finish(manifest);
  const { prefix } = plan.settings;
  await printSummary(manifest, { context, settings: { ...settings, prefix } });
  return exitCodeOfManifest(manifest, { ...settings, prefix, tagIps: undefined });
}

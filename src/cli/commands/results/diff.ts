import { z } from "zod";
import { UsageError } from "../../../core/errors.js";
import { accusationIn } from "../../../core/verdict.js";
import { option } from "../../../core/options.js";
import { counted } from "../../../core/wording/quantity.js";
import { readPrefix } from "../../../io/output/options.js";
import { parseOutput } from "../../../io/output/registry.js";
import { writeLines } from "../../../io/output/text/write-lines.js";
import { checkOutput } from "../../../jobs/enrich/destination/choose-output.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { changeCounts, changePhrase, changeTotal, defang } from "../../../jobs/report/phrases.js";
import type { OutputDiff } from "../../../jobs/diff/diff-outputs.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { cliOptions } from "../../options/cli-options.js";
import { redactAddress } from "../../../core/redaction.js";
import { writeProse, writeOut, printTable } from "../../terminal/data-output.js";

const { json, quiet } = cliOptions.shape;

/** Maximum changes on a terminal; a file has all. */
const maxShown = 40;

const groups = {
  Output: {
    output: option(z.string().min(1).optional(), {
      description: "Write every change to this file or s3:// object: .csv, .ndjson or .html",
      value: "OUT",
      alias: "o",
    }),
    json,
    exitCode: option(z.boolean().default(false), {
      description:
        "Exit with 3 if an item got worse, or a new one is malicious, suspicious or listed",
    }),
    prefix: readPrefix,
    stateDir: runOptions.shape.stateDir,
    quiet,
  },
};

export const diffCommand = defineCommand({
  name: "diff",
  usage: "EARLIER LATER [-o OUT] [flags]",
  summary: "show what changed between two outputs",
  description: [
    "Compares two outputs by kind and item: new, gone, worse, better, and changed (tags, network or abuse contact). If several rows have the same item, the newest answer counts. Items that are unknown on one side are counted, not compared; tags, network and contact are compared where both sides have an answer.",
    "Either side can be CSV, NDJSON, Parquet or a database table. Tables default to the newest run; select another one with run=ID.",
  ],
  operands: [
    ["EARLIER", "output to compare with"],
    ["LATER", "newer output"],
  ],
  groups,
  examples: {
    "repute diff monday.csv tuesday.csv": "print a summary and the worst changes",
    "repute diff monday.csv tuesday.csv -o changes.csv": "write every change to a file",
  },
  exitCodes: {
    3: "with --exit-code: an item got worse, or a new one is malicious, suspicious or listed",
  },
  run: diff,
});

type DiffCall = CommandCall<SettingsOf<typeof groups>>;

async function diff(call: DiffCall): Promise<number> {
  const { settings, operands, context } = call;
  const [earlier, later, ...others] = operands;
  if (earlier === undefined || later === undefined || others.length > 0) {
    throw new UsageError("argument_missing", "diff needs two outputs: EARLIER and LATER", {
      hint: "repute diff monday.csv tuesday.csv",
    });
  }
  const output = settings.output === undefined ? null : parseOutput(settings.output);
  const { diffFormatOf, diffLines } = await import("../../../jobs/report/page/page.js");
  const format = output === null ? null : diffFormatOf(output.given);
  if (output !== null) await checkOutput(output, [earlier, later]);
  const { compareOutputs } = await import("../../../jobs/diff/diff-outputs.js");
  await using found = await compareOutputs(
    parseOutput(earlier, "read"),
    parseOutput(later, "read"),
    { ...settings, signal: context.signal },
  );
  const { signal } = context;
  const print = (text: string) => writeOut(context, text);
  const names = { earlier: redactAddress(earlier), later: redactAddress(later) };
  if (output !== null && format !== null) {
    await writeLines(output, diffLines(format, found, names), { signal, print });
  }
  if (settings.json) {
    await writeLines(parseOutput("-"), diffLines("ndjson", found, names), { print });
  } else if (!settings.quiet) await show(found, output === null, call);
  return settings.exitCode && isAlarming(found) ? exitCodes.rowsFailed : exitCodes.done;
}

function isAlarming({ changes }: OutputDiff): boolean {
  // Changes come worst first, so the first one decides.
  for (const { change, later } of changes()) {
    return change === "worse" || (change === "new" && accusationIn(later!.verdict) !== null);
  }
  return false;
}

const titles = ["change", "kind", "item", "difference"];

/** Prints a summary and, unless they go to a file, the worst changes. Items are defanged. */
async function show(
  { counts, worst }: OutputDiff,
  withChanges: boolean,
  call: DiffCall,
): Promise<void> {
  const { context } = call;
  const total = changeTotal(counts);
  await writeProse(context, `${changeCounts(counts)}\n`);
  if (!withChanges || total === 0) return;
  await writeOut(context, "\n");
  const rows = worst(maxShown).map((change) => {
    const item = defang(change.item, change.kind);
    return [change.change, change.kind, item, changePhrase(change)];
  });
  printTable(context, titles, rows);
  if (total > maxShown) {
    const more = counted(total - maxShown, "more change");
    await writeProse(context, `\n${more}; write them all with -o changes.csv\n`);
  }
}

import type { RunInput, SourceInput } from "../../../inputs/types.js";
import { sourceOptions } from "../../../inputs/source-options.js";
import { option } from "../../../core/options.js";
import { lookupOptions } from "../../../lookup/options.js";
import { sinkOptions } from "../../../outputs/options.js";
import { chunkOptions } from "../../../cluster/chunks/options.js";
import { counted, formatCount } from "../../../core/text/quantity.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { commonExitCodes, interruptedExitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";
import { enrichInput } from "../enrich/enrich-job.js";
import { UsageError } from "../../../core/errors.js";

const { prefix, shape, esIndex, esAction, esId, formulaGuard, columns, only, distinct } =
  sinkOptions.shape;
const { lookups, bogons, exclude, urlQuery } = lookupOptions.shape;
const { json, quiet } = cliOptions.shape;
const { rowsPerChunk, to } = chunkOptions.shape;

// One file is divided, never a folder.
const { recursive: _recursive, ...input } = sourceOptions.shape;

const groups = {
  Input: input,
  Work: {
    output: option(sinkOptions.shape.output, {
      common: true,
      description:
        "New folder for the plan and the results, which all machines can reach: a path or s3://BUCKET/KEY",
      value: "WORK",
      alias: "o",
    }),
    rowsPerChunk,
  },
  Output: { to, columns, only, distinct, prefix, shape, esIndex, esAction, esId, formulaGuard },
  Lookups: { lookups, bogons, exclude, urlQuery },
  Run: { json, quiet },
};

export const splitCommand = defineCommand({
  name: "split",
  usage: "[input] -o WORK [flags]",
  summary: "divide an input into chunks for several machines",
  description: [
    "Reads the whole input once, finds its columns, and writes WORK/plan.json with chunks numbered from 0. Then run repute enrich WORK --chunk N for each chunk, in any order and anywhere, and repute merge WORK -o OUT once they are done.",
    "A plain file or object stays where it is and has to be readable from every machine; gzip, UTF-16, stdin and tables are copied into WORK, decompressed, and into s3://BUCKET/KEY files, too.",
  ],
  operands: [
    [
      "input",
      "file to read, or - for stdin [default -]; gzip is detected. Also FILE.parquet, and duckdb:FILE or postgres://USER@HOST/DB with ?table=NAME or ?query=SELECT…",
    ],
  ],
  groups,
  examples: {
    "repute split dump.csv -o work": "divide a file into chunks of 100,000 rows",
    "repute split hits.ndjson.gz -o /shared/work --item-column source.ip":
      "name the column once, for all chunks; gzip is decompressed into the folder",
    "repute split dump.csv.gz -o work --rows-per-chunk 20000 --to parquet":
      "choose the size of a chunk and the format of the output",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: split,
});

/** @throws UsageError `too_many_inputs` */
function oneInput(input: RunInput): SourceInput {
  if (!("inputs" in input)) return input;
  throw new UsageError("too_many_inputs", "split reads one input at a time", {
    hint: "split each file into a folder of its own, or join them first",
  });
}

async function split(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operands } = call;
  const { output } = settings;
  if (output === "-") {
    throw new UsageError("argument_missing", "split needs a folder for its plan", {
      hint: "name one: -o WORK",
    });
  }
  const [{ splitWork }, { openWork }] = await Promise.all([
    import("../../../cluster/chunks/split-work.js"),
    import("../../../cluster/chunks/work-folder.js"),
  ]);
  const plan = await splitWork({
    input: oneInput(await enrichInput(operands, context, settings)),
    work: openWork(output),
    settings,
    signal: context.signal,
    clock: context.clock,
    onNotice: (message) => {
      if (!settings.quiet) context.reporter.print(`repute: ${message}`);
    },
  });
  const { chunks, input, plan_id } = plan;
  if (settings.json) {
    const facts = { work: output, plan_id, chunks: chunks.length, rows: input.rows };
    context.stdout.write(`${JSON.stringify(facts)}\n`);
  } else if (!settings.quiet) {
    const many =
      chunks.length === 1
        ? "1 chunk: 0"
        : `${formatCount(chunks.length)} chunks: 0 to ${chunks.length - 1}`;
    context.reporter.print(`repute: ${counted(input.rows, "row")} in ${many}`);
  }
  return 0;
}

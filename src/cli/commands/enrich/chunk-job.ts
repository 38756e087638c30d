import { UsageError } from "../../../core/errors.js";
import { runChunk } from "../../../cluster/chunks/run-chunk.js";
import { openWork } from "../../../cluster/chunks/work-folder.js";
import {
  type PlannedSettings,
  readPlan,
  type WorkPlan,
} from "../../../cluster/chunks/work-plan.js";
import type { CommandCall } from "../../command.js";
import { flagName } from "../../options/option-spec.js";
import { withServices } from "../../services/services.js";
import { type EnrichJobSettings, runEnrichJob } from "./enrich-job.js";

type ChunkCall = CommandCall<EnrichJobSettings>;

/** Does one chunk of a work folder, the operand of the call. */
export async function runChunkJob(call: ChunkCall, chunk: number): Promise<number> {
  const { operands } = call;
  const [path] = operands;
  if (path === undefined || operands.length > 1) {
    throw new UsageError("argument_missing", "--chunk needs one folder made by repute split", {
      hint: "repute enrich WORK --chunk N",
    });
  }
  // A chunk is a file, although the command names only its folder.
  call.watch?.follow({ toStdout: true });
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
    ["from", "itemColumn", "kindColumn", "header", "comment", "encoding", "sheet", "rowsPerChunk"],
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

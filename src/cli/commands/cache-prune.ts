import { z } from "zod";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { cliOptions } from "../options/cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { commonExitCodes, exitCodes, interruptedExitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { showCounts } from "../terminal/show-record.js";

const options = z.strictObject({
  cacheTtl: lookupOptions.shape.cacheTtl,
  json: option(cliOptions.shape.json, { description: "JSON on a terminal too" }),
  config: cliOptions.shape.config,
});

/** Removes what no run would use. */
export const cachePruneCommand = defineCommand({
  name: "cache prune",
  usage: "DIR [flags]",
  summary: "remove expired answers from a cache",
  description: [
    "Removes the answers that no run would use any more, and tells how many were removed and kept. Runs may use the cache meanwhile. Its files keep their size: the room is used for new answers.",
  ],
  operands: [["DIR", "folder that runs were given with --cache"]],
  options,
  groups: [{ title: "Options", keys: ["cacheTtl", "json", "config"] }],
  examples: [
    {
      command: "repute cache prune ~/.cache/repute",
      what: "removes what is older than a day, partial answers older than an hour",
    },
    {
      command: "repute cache prune ~/.cache/repute --cache-ttl 7d",
      what: "keeps what a run with the same flag would use",
    },
    {
      command: "repute cache prune ~/.cache/repute --json",
      what: "prints JSON on a terminal too",
    },
    {
      command: "repute cache prune ~/.cache/repute | jq .removed",
      what: "takes the number of removed answers",
    },
  ],
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: prune,
});

async function prune(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const folder = oneOperand("cache prune", "the folder of a cache", call.operands);
  const { context, settings } = call;
  const { pruneCache } = await import("../../store/cache/cache-upkeep.js");
  const result = await pruneCache(folder, {
    ttlMs: settings.cacheTtl,
    now: context.clock.now(),
    onWarning: (message) => context.reporter.warning(message),
    signal: context.signal,
  });
  await showCounts(call, { folder, ...result });
  return exitCodes.done;
}

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

/** What a cache holds. */
export const cacheStatsCommand = defineCommand({
  name: "cache stats",
  usage: "DIR [flags]",
  summary: "tell what a cache holds",
  description: [
    "Counts the answers that a cache holds: fresh and expired ones, of what kind, of which service. Prints one JSON object; field by field on a terminal.",
  ],
  operands: [["DIR", "folder that runs were given with --cache"]],
  options,
  groups: [{ title: "Options", keys: ["cacheTtl", "json", "config"] }],
  examples: [
    { command: "repute cache stats ~/.cache/repute", what: "tells what is there" },
    {
      command: "repute cache stats ~/.cache/repute --cache-ttl 7d",
      what: "counts as fresh what a run with the same flag would use",
    },
    {
      command: "repute cache stats ~/.cache/repute --json",
      what: "prints JSON on a terminal too",
    },
    {
      command: "repute cache stats ~/.cache/repute | jq .fresh",
      what: "takes the number of fresh answers",
    },
  ],
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: stats,
});

async function stats(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const folder = oneOperand("cache stats", "the folder of a cache", call.operands);
  const { context, settings } = call;
  const { cacheStats } = await import("../../store/cache/cache-upkeep.js");
  const found = await cacheStats(folder, {
    ttlMs: settings.cacheTtl,
    now: context.clock.now(),
    onWarning: (message) => context.reporter.warning(message),
    signal: context.signal,
  });
  await showCounts(call, found);
  return exitCodes.done;
}

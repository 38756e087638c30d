import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { cliOptions } from "../options/option-spec.js";
import { type CommandCall, defineCommand } from "../command.js";
import { commonExitCodes, exitCodes, interruptedExitCodes } from "../exit-code.js";
import { showCounts } from "../terminal/show-record.js";

const { cacheTtl } = lookupOptions.shape;
const { config, profile } = cliOptions.shape;
const json = option(cliOptions.shape.json, { description: "JSON on a terminal too" });

/** What all commands of a cache have in common. */
const ofCache = {
  usage: "DIR [flags]",
  operands: [["DIR", "folder that runs were given with --cache"]],
  onlyOperand: { what: "the folder of a cache" },
} as const;

/** What a cache holds. */
export const cacheStatsCommand = defineCommand({
  ...ofCache,
  name: "cache stats",
  summary: "tell what a cache holds",
  description: [
    "Counts the answers that a cache holds: fresh and expired ones, of what kind, of which service. Prints one JSON object; field by field on a terminal.",
  ],
  groups: { Options: { cacheTtl, json, config, profile } },
  examples: {
    "repute cache stats ~/.cache/repute": "tells what is there",
    "repute cache stats ~/.cache/repute --cache-ttl 7d":
      "counts as fresh what a run with the same flag would use",
    "repute cache stats ~/.cache/repute --json": "prints JSON on a terminal too",
    "repute cache stats ~/.cache/repute | jq .fresh": "takes the number of fresh answers",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: async (call) => {
    const { cacheStats } = await import("../../store/cache/cache-upkeep.js");
    await showCounts(call, await cacheStats(call.operand, upkeepOptions(call)));
    return exitCodes.done;
  },
});

/** Removes what no run would use. */
export const cachePruneCommand = defineCommand({
  ...ofCache,
  name: "cache prune",
  summary: "remove expired answers from a cache",
  description: [
    "Removes the answers that no run would use any more, and tells how many were removed and kept. Runs may use the cache meanwhile. Its files keep their size: the room is used for new answers.",
  ],
  groups: { Options: { cacheTtl, json, config, profile } },
  examples: {
    "repute cache prune ~/.cache/repute":
      "removes what is older than a day, partial answers older than an hour",
    "repute cache prune ~/.cache/repute --cache-ttl 7d":
      "keeps what a run with the same flag would use",
    "repute cache prune ~/.cache/repute --json": "prints JSON on a terminal too",
    "repute cache prune ~/.cache/repute | jq .removed": "takes the number of removed answers",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: async (call) => {
    const { pruneCache } = await import("../../store/cache/cache-upkeep.js");
    const result = await pruneCache(call.operand, upkeepOptions(call));
    await showCounts(call, { folder: call.operand, ...result });
    return exitCodes.done;
  },
});

/** Removes a cache's files. */
export const cacheClearCommand = defineCommand({
  ...ofCache,
  name: "cache clear",
  summary: "remove a cache, whole or damaged",
  description: [
    "Removes the files of a cache, whatever state they are in, and nothing else that the folder holds; tells how many bytes were freed. A run that is using it goes on and keeps what it asks for to itself; the next one begins the cache anew.",
  ],
  groups: { Options: { json, config, profile } },
  examples: {
    "repute cache clear ~/.cache/repute": "frees what it takes of the disk",
    "repute cache clear ~/.cache/repute --json": "prints JSON on a terminal too",
    "repute cache clear ~/.cache/repute | jq .bytes": "takes the number of bytes",
    "repute cache clear ~/.cache/repute && repute enrich dump.csv -o enriched.csv":
      "asks for everything anew",
  },
  exitCodes: commonExitCodes,
  run: async (call) => {
    const { clearCache } = await import("../../store/cache/cache-upkeep.js");
    await showCounts(call, { folder: call.operand, bytes: clearCache(call.operand) });
    return exitCodes.done;
  },
});

function upkeepOptions({ settings, context }: CommandCall<{ readonly cacheTtl: number }>) {
  return {
    ttlMs: settings.cacheTtl,
    now: context.clock.now(),
    onWarning: (message: string) => context.reporter.warning(message),
    signal: context.signal,
  };
}

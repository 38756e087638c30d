import { option } from "../../core/options.js";
import { cacheStats, type CacheUpkeep, pruneCache } from "../../store/cache/cache-stats.js";
import { isRedisAddress } from "../../store/redis/redis-address.js";
import { lookupOptions } from "../../lookup/options.js";
import { cliOptions } from "../options/option-spec.js";
import { type CommandCall, defineCommand } from "../command.js";
import { commonExitCodes, exitCodes, interruptedExitCodes } from "../exit-code.js";
import { showCounts } from "../terminal/data-output.js";

const { cacheTtl } = lookupOptions.shape;
const { color } = cliOptions.shape;
const json = option(cliOptions.shape.json, { description: "Print JSON on a terminal too" });

const ofCache = {
  usage: "CACHE [flags]",
  operands: [["CACHE", "folder or redis:// address passed to runs with --cache"]],
  operandCount: "one",
} as const;

export const cacheStatsCommand = defineCommand({
  ...ofCache,
  name: "cache stats",
  summary: "count the answers in a cache",
  description: [
    "Counts the answers in a cache: fresh and expired, by kind and by service. Prints one JSON object, on a terminal one field per line.",
  ],
  groups: { Options: { cacheTtl, json, color } },
  examples: {
    "repute cache stats ~/.cache/repute": "count its answers",
    "repute cache stats ~/.cache/repute --cache-ttl 7d":
      "count as fresh what a run with this TTL would use",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: async (call) => {
    const upkeep = await upkeepOf(call.operand);
    await showCounts(call, await cacheStats(upkeep, call.operand, upkeepOptions(call)));
    return exitCodes.done;
  },
});

export const cachePruneCommand = defineCommand({
  ...ofCache,
  name: "cache prune",
  summary: "delete expired answers from a cache",
  description: [
    "Deletes expired answers and prints how many were removed and kept. Runs can use the cache meanwhile. The files of a folder keep their size; new answers reuse the space. Redis drops expired answers by itself.",
  ],
  groups: { Options: { cacheTtl, json, color } },
  examples: {
    "repute cache prune ~/.cache/repute":
      "delete answers older than a day, and partial answers older than an hour",
    "repute cache prune ~/.cache/repute --cache-ttl 7d": "keep what a run with this TTL would use",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: async (call) => {
    const upkeep = await upkeepOf(call.operand);
    await showCounts(call, await pruneCache(upkeep, call.operand, upkeepOptions(call)));
    return exitCodes.done;
  },
});

export const cacheClearCommand = defineCommand({
  ...ofCache,
  name: "cache clear",
  summary: "delete a cache, intact or damaged",
  description: [
    "Deletes the files of a cache, even if they are damaged, and no other file in the folder; in Redis, the answers and no other key. Prints the number of bytes freed. A run that is using the cache continues without it; the next run creates a new one.",
  ],
  groups: { Options: { json, color } },
  examples: {
    "repute cache clear ~/.cache/repute": "free its disk space",
    "repute cache clear ~/.cache/repute && repute enrich dump.csv -o enriched.csv":
      "enrich with an empty cache",
  },
  exitCodes: commonExitCodes,
  run: async (call) => {
    const upkeep = await upkeepOf(call.operand);
    await showCounts(call, await upkeep.clear(call.operand, call.context.signal));
    return exitCodes.done;
  },
});

async function upkeepOf(cache: string): Promise<CacheUpkeep> {
  return isRedisAddress(cache)
    ? (await import("../../store/redis/redis-cache.js")).redisUpkeep
    : (await import("../../store/cache/cache-upkeep.js")).folderUpkeep;
}

function upkeepOptions({ settings, context }: CommandCall<{ readonly cacheTtl: number }>) {
  return {
    ttlMs: settings.cacheTtl,
    now: context.clock.now(),
    signal: context.signal,
  };
}

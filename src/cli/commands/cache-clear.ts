import { z } from "zod";
import { option } from "../../core/options.js";
import { cliOptions } from "../options/cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { commonExitCodes, exitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { showCounts } from "../terminal/show-record.js";

const options = z.strictObject({
  json: option(cliOptions.shape.json, { description: "JSON on a terminal too" }),
  config: cliOptions.shape.config,
});

/** Removes a cache's files. */
export const cacheClearCommand = defineCommand({
  name: "cache clear",
  usage: "DIR [flags]",
  summary: "remove a cache, whole or damaged",
  description: [
    "Removes the files of a cache, whatever state they are in, and nothing else that the folder holds; tells how many bytes were freed. A run that is using it goes on and keeps what it asks for to itself; the next one begins the cache anew.",
  ],
  operands: [["DIR", "folder that runs were given with --cache"]],
  options,
  groups: [{ title: "Options", keys: ["json", "config"] }],
  examples: [
    { command: "repute cache clear ~/.cache/repute", what: "frees what it takes of the disk" },
    {
      command: "repute cache clear ~/.cache/repute --json",
      what: "prints JSON on a terminal too",
    },
    {
      command: "repute cache clear ~/.cache/repute | jq .bytes",
      what: "takes the number of bytes",
    },
    {
      command: "repute cache clear ~/.cache/repute && repute enrich dump.csv -o enriched.csv",
      what: "asks for everything anew",
    },
  ],
  exitCodes: commonExitCodes,
  run: clear,
});

async function clear(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const folder = oneOperand("cache clear", "the folder of a cache", call.operands);
  const { clearCache } = await import("../../store/cache/cache-upkeep.js");
  await showCounts(call, { folder, bytes: clearCache(folder) });
  return exitCodes.done;
}

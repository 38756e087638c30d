import { apiOptions } from "../../api/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { sinkOptions } from "../../outputs/options.js";
import { runOptions } from "../../pipeline/options.js";
import { commonExitCodes, interruptedExitCodes } from "../exit-code.js";
import { cliOptions } from "../options/cli-options.js";

const { output, unordered, tagIps, ...howToRun } = runOptions.shape;
const { local, ...program } = cliOptions.shape;
const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;

/** Options of commands that run the main job. */
export const runGroups = {
  Output: { output, ...sinkOptions.shape, unordered, tagIps },
  Service: { intelUrl, local, timeout, apiKeyFile },
  Lookups: lookupOptions.shape,
  Run: { ...howToRun, ...program },
};

/** Exit codes of those commands, as the help lists them. */
export function jobExitCodes(rowsFailed = "done, but rows exist that --fail-on counts") {
  return [
    commonExitCodes[0],
    ["1", "the run could not go on, or more rows failed than --max-failed allows"],
    commonExitCodes[2],
    ["3", rowsFailed],
    ["75", "stopped early and resumable: a budget, a deadline or a quota"],
    ...interruptedExitCodes,
  ] as const;
}

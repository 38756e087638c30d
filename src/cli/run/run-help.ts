import { lookupOptions } from "../../lookup/options.js";
import { sinkOptions } from "../../outputs/options.js";
import { interruptedExitCodes, runExitCodes } from "../exit-code.js";

/** Groups of the help that commands which run the main job share. */
export const runGroups = {
  output: {
    title: "Output",
    keys: ["output", ...Object.keys(sinkOptions.shape), "unordered", "tagIps"],
  },
  lookups: { title: "Lookups", keys: Object.keys(lookupOptions.shape) },
  run: {
    title: "Run",
    keys: [
      "resume",
      "restart",
      "maxRequests",
      "deadline",
      "failOn",
      "maxFailed",
      "json",
      "quiet",
      "config",
    ],
  },
} as const;

/** Exit codes of those commands, as the help lists them. */
export function jobExitCodes(rowsFailed = "done, but rows exist that --fail-on counts") {
  return [
    ...runExitCodes,
    ["3", rowsFailed],
    ["75", "stopped early and resumable: a budget, a deadline or a quota"],
    ...interruptedExitCodes,
  ] as const;
}

import { apiOptions } from "../../../client/api/options.js";
import { lookupOptions } from "../../../client/lookup/options.js";
import { sinkOptions } from "../../../io/output/options.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { commonExitCodes, interruptedExitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";
import { unattendedOptions } from "../../unattended/options.js";

const { local, synthetic, report, against, json, quiet } = cliOptions.shape;
const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;
const { mode, key, tagIps, ...files } = sinkOptions.shape;
const { lookups, bogons, exclude, urlQuery, cache, cacheTtl, ...pace } = lookupOptions.shape;

export const runGroups = {
  Output: files,
  Tables: { mode, key },
  Service: { intelUrl, local, synthetic, timeout, apiKeyFile },
  Lookups: { lookups, bogons, exclude, urlQuery, cache, cacheTtl },
  Pace: pace,
  Run: { ...runOptions.shape },
  "Reports and monitoring": {
    report,
    against,
    tagIps,
    json,
    quiet,
    ...unattendedOptions.shape,
  },
};

export function jobExitCodes(rowsFailed = "done, but the output has rows that --fail-on counts") {
  return [
    commonExitCodes[0],
    ["1", "the run could not continue, or more rows failed than --max-failed allows"],
    commonExitCodes[2],
    ["3", rowsFailed],
    ["75", "stopped early by a budget, deadline or quota; resumable"],
    ...interruptedExitCodes,
  ] as const;
}

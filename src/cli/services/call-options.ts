import { apiOptions, caseOptions, opsOptions } from "../../client/api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../client/lookup/options.js";
import { cliOptions } from "../options/option-spec.js";

const { local, synthetic } = cliOptions.shape;
const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;

/** Options of commands that send requests other than lookups. */
const callGroups = {
  Pace: {
    timeout,
    rate: option(lookupOptions.shape.rate, {
      description:
        "Rate limit: N/s, N/m, N/h or N/d [default 100/s, none with --local]. Hourly and daily limits are quotas, in addition to the default, counted across runs",
      value: "N/s",
      repeats: true,
    }),
    retries: option(lookupOptions.shape.retries, {
      description: "Retries after a network error, a server error or throttling",
      value: "N",
    }),
  },
  Run: {
    json: option(cliOptions.shape.json, { description: "Print JSON lines on a terminal too" }),
  },
};

/** Options of commands that use the threat intelligence API. */
export const intelCallGroups = {
  Service: { intelUrl, local, synthetic, apiKeyFile },
  ...callGroups,
};

/** Options of commands that use the operations interface. */
export const opsCallGroups = {
  Service: {
    opsUrl: opsOptions.shape.opsUrl,
    local,
    accessTokenFile: opsOptions.shape.accessTokenFile,
  },
  ...callGroups,
};

/** Options of commands that use the case management instance. */
export const caseCallGroups = {
  Service: {
    caseUrl: caseOptions.shape.caseUrl,
    local,
    caseApiKeyFile: caseOptions.shape.caseApiKeyFile,
  },
  ...callGroups,
};

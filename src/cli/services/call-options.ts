import { apiOptions, caseOptions, opsOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { cliOptions } from "../options/option-spec.js";
import type { SettingsOf } from "../command.js";

const { local, synthetic, config, profile } = cliOptions.shape;
const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;

/** Options of every command that asks a service for anything but items. */
const callGroups = {
  Requests: {
    timeout,
    rate: option(lookupOptions.shape.rate, {
      description:
        "Most requests in a length of time (s, m, h, d); default 100/s, with --local none. Per hour or day it is a quota, counted across runs",
      value: "N/s",
      repeats: true,
    }),
    retries: option(lookupOptions.shape.retries, {
      description: "How often a request is tried again after a passing fault or throttling",
      value: "N",
    }),
  },
  Run: {
    json: option(cliOptions.shape.json, { description: "JSON lines on a terminal too" }),
    config,
    profile,
  },
};

export type RequestSettings = SettingsOf<Pick<typeof callGroups, "Requests">>;

/** Options of a command that asks the threat intelligence interface. */
export const intelCallGroups = {
  Service: { intelUrl, local, synthetic, apiKeyFile },
  ...callGroups,
};

/** Options of a command that asks the operations interface. */
export const opsCallGroups = {
  Service: {
    opsUrl: opsOptions.shape.opsUrl,
    local,
    accessTokenFile: opsOptions.shape.accessTokenFile,
  },
  ...callGroups,
};

/** Options of a command that asks the case management instance. */
export const caseCallGroups = {
  Service: {
    caseUrl: caseOptions.shape.caseUrl,
    local,
    caseApiKeyFile: caseOptions.shape.caseApiKeyFile,
  },
  ...callGroups,
};

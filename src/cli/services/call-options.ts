import { z } from "zod";
import { apiOptions, caseOptions, opsOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { lookupOptions } from "../../lookup/options.js";
import { cliOptions } from "../options/cli-options.js";

/** Options of every command that asks a service for anything but items. */
const callOptions = z.strictObject({
  timeout: apiOptions.shape.timeout,
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
  local: cliOptions.shape.local,
  json: option(cliOptions.shape.json, { description: "JSON lines on a terminal too" }),
  config: cliOptions.shape.config,
});

export type CallSettings = z.output<typeof callOptions>;

const { intelUrl, apiKeyFile } = apiOptions.shape;

/** Options of a command that asks the threat intelligence interface. */
export const intelCallOptions = z.strictObject({ intelUrl, apiKeyFile, ...callOptions.shape });

/** Options of a command that asks the operations interface. */
export const opsCallOptions = z.strictObject({ ...opsOptions.shape, ...callOptions.shape });

/** Options of a command that asks the case management instance. */
export const caseCallOptions = z.strictObject({ ...caseOptions.shape, ...callOptions.shape });

/** Groups of the help that go with these options. */
export const callGroups = {
  intel: { title: "Service", keys: ["intelUrl", "local", "apiKeyFile"] },
  ops: { title: "Service", keys: ["opsUrl", "local", "accessTokenFile"] },
  case: { title: "Service", keys: ["caseUrl", "local", "caseApiKeyFile"] },
  requests: { title: "Requests", keys: ["timeout", "rate", "retries"] },
  run: { title: "Run", keys: ["json", "config"] },
} as const;

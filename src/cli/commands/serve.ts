import { apiOptions } from "../../api/options.js";
import { option, wholeNumber } from "../../core/options.js";
import type { FireWebhook } from "../../service/case-desk.js";
import { serviceOptions } from "../../service/options.js";
import type { StatsSnapshot } from "../../service/stats.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { exitCodes } from "../exit-code.js";
import { cliOptions } from "../options/option-spec.js";
import { endpointKeysFile, readEndpointKeys } from "../options/endpoint-keys.js";
import { secrets } from "../options/secrets.js";
import { callWebhook } from "../../webhooks/call-webhook.js";
import { formatCount } from "../../core/quantity.js";

const { host, port, dataset, synthetic, apiKey, blocklistField, ...faults } = serviceOptions.shape;

const groups = {
  Listening: { host, port },
  Answers: { dataset, synthetic, apiKey, blocklistField },
  Faults: faults,
  Webhooks: {
    endpointKeysFile,
    timeout: option(apiOptions.shape.timeout, {
      description: "Longest time that one call of a webhook may take",
      value: "TIME",
    }),
    retries: option(wholeNumber(0, 100).prefault(2), {
      description: "How often the call of a webhook is tried again after a network error or 5xx",
      value: "N",
    }),
  },
  Run: {
    json: option(cliOptions.shape.json, { description: "The addresses as one JSON object" }),
    quiet: option(cliOptions.shape.quiet, { description: "No hint on stderr", alias: "q" }),
    config: cliOptions.shape.config,
    profile: cliOptions.shape.profile,
  },
};

/** The embedded service, until a signal ends it. */
export const serveCommand = defineCommand({
  name: "serve",
  usage: "[flags]",
  summary: "run the embedded service, for development, rehearsal and tests",
  description: [
    "Runs a faithful implementation of the service over a sample dataset until it is stopped (Ctrl-C), and misbehaves on request, the same way for the same seed. Its addresses go to stdout as soon as it listens; GET /_local/stats counts its requests.",
    "With --synthetic SEED, every item that the dataset does not list gets an invented answer: 20% malicious, 10% suspicious, 5% on the mail blocklist and nothing else, the rest without a verdict; 5% of queries are answered in part, every time. Networks, contacts and tags say that they are invented; the tag botnet:invented-swarm has more than 25,000 addresses, in 198.18.0.0/15.",
    "A case whose state is changed with POST /_local/cases/ID/transition fires the webhooks that the dataset attaches to the change: they are called for real, with the subscriber's data of the case.",
  ],
  operands: [],
  groups,
  examples: {
    "repute serve --port 8080":
      "serves the sample dataset; then, elsewhere: repute query 192.0.2.1 --intel-url http://127.0.0.1:8080/beta",
    "repute serve --port 8080 --partial-rate 0.05 --unavailable-rate 0.03 --reset-rate 0.01":
      "rehearses a bad day, the same one each time; --seed 2 is another one",
    "repute serve --port 8080 --rate-limit 50/s --latency 20ms-80ms":
      "answers after a while, and with 429 and Retry-After beyond 50 requests a second",
    "repute serve --port 8080 --synthetic 1":
      "answers for every item, with invented verdicts, tags and networks",
    "repute serve --port 8080 --dataset my-dataset":
      "answers from another dataset, a folder like samples/dataset",
    "repute serve --port 8080 --api-key rehearsal-key --blocklist-field abusixMailBlocklist":
      "answers as the deployed service does: only with the key, and with its name of the blocklist member",
  },
  exitCodes: [
    ["0", "stopped by SIGHUP, SIGINT, SIGQUIT or SIGTERM"],
    ["1", "could not listen, or not go on"],
    ["2", "wrong usage or configuration"],
  ],
  variables: [
    [secrets.intel.variable, "the same as --api-key"],
    [
      secrets.ops.variable,
      "token that the operations interface takes [default sample-access-token]",
    ],
    [secrets.case.variable, "API key that case contexts take [default sample-case-api-key]"],
  ],
  run: serve,
});

async function serve({
  settings,
  context,
}: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { json, quiet, endpointKeysFile, timeout, retries, ...other } = settings;
  const { config: _config, profile: _profile, ...own } = other;
  const endpointKeys = await readEndpointKeys(endpointKeysFile, context);
  const { startService, sampleAccessToken, sampleCaseApiKey } =
    await import("../../service/service.js");
  const accessToken = context.env["REPUTE_ACCESS_TOKEN"] || sampleAccessToken;
  const caseApiKey = context.env["REPUTE_CASE_API_KEY"] || sampleCaseApiKey;
  const { clock, signal } = context;
  const fireWebhook: FireWebhook = async (webhook, caseContext) => {
    const apiKeys = [...endpointKeys, { origin: service.caseUrl, key: caseApiKey }];
    const options = { apiKeys, retries, timeoutMs: timeout, clock, signal };
    const { status, error } = await callWebhook(webhook, caseContext, options);
    return error === null ? { status } : { status, error: error.message };
  };
  const service = await startService({ ...own, accessToken, caseApiKey, clock, fireWebhook });
  try {
    const { intelUrl, opsUrl, caseUrl } = service;
    if (service.exposed) context.reporter.warning(exposedWarning(own.host, service.port));
    context.stdout.write(
      json
        ? `${JSON.stringify({ intel_url: intelUrl, ops_url: opsUrl, case_url: caseUrl })}\n`
        : `intel ${intelUrl}  ops ${opsUrl}  case ${caseUrl}\n`,
    );
    if (!quiet && context.reporter.width !== null) {
      context.reporter.print(
        `repute: serving until stopped (Ctrl-C); try: repute query 192.0.2.1 --intel-url ${intelUrl}`,
      );
    }
    context.reporter.describe(() => servedText(intelUrl, service.stats()));
    await aborted(context.signal);
  } finally {
    await service.close();
  }
  return exitCodes.done;
}

function exposedWarning(host: string, port: number): string {
  return `listening on ${host}, beyond this machine: anyone who reaches port ${port} can read the dataset, change cases and fire webhooks`;
}

function servedText(intelUrl: string, { requests, in_flight }: StatsSnapshot): string {
  const total = Object.values(requests).reduce((sum, { total }) => sum + total, 0);
  return `serving ${intelUrl}: requests ${formatCount(total)}, in flight ${formatCount(in_flight)}`;
}

/** Being stopped is how serving ends, and no interruption. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import type { Clock } from "../../core/clock.js";
import { option, wholeNumber } from "../../core/options.js";
import type { FireWebhook } from "../../service/case-desk.js";
import { serviceOptions } from "../../service/options.js";
import type { StatsSnapshot } from "../../service/stats.js";
import type { ApiKey } from "../../webhooks/prepare.js";
import { type CommandCall, defineCommand } from "../command.js";
import { exitCodes } from "../exit-code.js";
import { cliOptions } from "../options/cli-options.js";
import { endpointKeysOption, readEndpointKeys } from "../options/endpoint-keys.js";
import { noOperands } from "../options/operands.js";
import { secrets } from "../options/secrets.js";
import { formatCount } from "../terminal/quantity.js";

const { quiet, config } = cliOptions.shape;

const options = z.strictObject({
  ...serviceOptions.shape,
  ...endpointKeysOption,
  timeout: option(apiOptions.shape.timeout, {
    description: "Longest time that one call of a webhook may take",
    value: "TIME",
  }),
  retries: option(wholeNumber(0, 100).prefault(2), {
    description: "How often the call of a webhook is tried again after a network error or 5xx",
    value: "N",
  }),
  json: option(cliOptions.shape.json, { description: "The addresses as one JSON object" }),
  quiet: option(quiet, { description: "No hint on stderr", alias: "q" }),
  config,
});

/** The embedded service, until a signal ends it. */
export const serveCommand = defineCommand({
  name: "serve",
  usage: "[flags]",
  summary: "run the embedded service, for development, rehearsal and tests",
  description: [
    "Runs a faithful implementation of the service over a sample dataset until it is stopped (Ctrl-C), and misbehaves on request, the same way for the same seed. Its addresses go to stdout as soon as it listens; GET /_local/stats counts its requests.",
    "A case whose state is changed with POST /_local/cases/ID/transition fires the webhooks that the dataset attaches to the change: they are called for real, with the subscriber's data of the case.",
  ],
  operands: [],
  options,
  groups: [
    { title: "Listening", keys: ["host", "port"] },
    { title: "Answers", keys: ["dataset", "apiKey", "blocklistField"] },
    {
      title: "Faults",
      keys: [
        "latency",
        "partialRate",
        "unavailableRate",
        "resetRate",
        "malformedRate",
        "rateLimit",
        "seed",
      ],
    },
    { title: "Webhooks", keys: ["endpointKeysFile", "timeout", "retries"] },
    { title: "Run", keys: ["json", "quiet", "config"] },
  ],
  examples: [
    {
      command: "repute serve --port 8080",
      what: "serves the sample dataset; then, elsewhere: repute query 192.0.2.1 --intel-url http://127.0.0.1:8080/beta",
    },
    {
      command:
        "repute serve --port 8080 --partial-rate 0.05 --unavailable-rate 0.03 --reset-rate 0.01",
      what: "rehearses a bad day, the same one each time; --seed 2 is another one",
    },
    {
      command: "repute serve --port 8080 --rate-limit 50/s --latency 20ms-80ms",
      what: "answers after a while, and with 429 and Retry-After beyond 50 requests a second",
    },
    {
      command: "repute serve --port 8080 --dataset my-dataset",
      what: "answers from another dataset, a folder like samples/dataset",
    },
    {
      command:
        "repute serve --port 8080 --api-key rehearsal-key --blocklist-field abusixMailBlocklist",
      what: "answers as the deployed service does: only with the key, and with its name of the blocklist member",
    },
  ],
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
  operands,
  context,
}: CommandCall<z.output<typeof options>>): Promise<number> {
  noOperands("serve", operands);
  const { json, quiet, endpointKeysFile, timeout, retries, config: _config, ...own } = settings;
  const endpointKeys = await readEndpointKeys(endpointKeysFile, context);
  const { startService, sampleAccessToken, sampleCaseApiKey } =
    await import("../../service/service.js");
  const accessToken = context.env["REPUTE_ACCESS_TOKEN"] || sampleAccessToken;
  const caseApiKey = context.env["REPUTE_CASE_API_KEY"] || sampleCaseApiKey;
  const { clock, signal } = context;
  let caseOrigin: string | null = null;
  const fireWebhook = fireWebhooks({
    apiKeys: () =>
      caseOrigin === null
        ? endpointKeys
        : [...endpointKeys, { origin: caseOrigin, key: caseApiKey }],
    retries,
    timeout,
    clock,
    signal,
  });
  const service = await startService({ ...own, accessToken, caseApiKey, clock, fireWebhook });
  caseOrigin = service.caseUrl;
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

export interface FireWebhooksOptions {
  /** The keys, each sent to its own origin alone; asked for at each call. */
  readonly apiKeys: () => readonly ApiKey[];
  readonly retries: number;
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
  readonly clock: Clock;
  /** Aborting it ends the calls that are open. */
  readonly signal: AbortSignal;
}

/** Calls webhooks for the embedded service as `repute webhook send` does. */
export function fireWebhooks({
  apiKeys,
  retries,
  timeout,
  clock,
  signal,
}: FireWebhooksOptions): FireWebhook {
  return async (webhook, context) => {
    const [{ createDispatcher }, { sendWebhook }] = await Promise.all([
      import("../../api/http/dispatcher.js"),
      import("../../webhooks/send.js"),
    ]);
    const dispatcher = createDispatcher(webhook.endpoint, { connections: 1 });
    try {
      const { status, error } = await sendWebhook(webhook, context, {
        dispatcher,
        apiKeys: apiKeys(),
        retries,
        timeoutMs: timeout,
        clock,
        signal,
      });
      return error === null ? { status } : { status, error: error.message };
    } finally {
      await dispatcher.destroy();
    }
  };
}

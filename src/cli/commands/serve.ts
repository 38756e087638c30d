import { once } from "node:events";
import type { FireWebhook } from "../../service/cases.js";
import { serviceOptions } from "../../service/options.js";
import { defineCommand, endlessCodes } from "../command.js";
import { cliOptions } from "../options/cli-options.js";
import { secrets } from "../options/secrets.js";
import { writeProse, writeOut } from "../terminal/data-output.js";

const { host, port, dataset, synthetic, apiKey, blocklistField, ...faults } = serviceOptions.shape;

export const serveCommand = defineCommand({
  name: "serve",
  summary: "run the embedded service, for development, rehearsal and tests",
  description: [
    "Runs an implementation of the service with a sample dataset until you stop it (Ctrl-C). Flags inject faults, reproducibly from a seed. Its addresses are printed to stdout once it listens; GET /_local/stats counts its requests.",
    "With --synthetic SEED, every item that the dataset does not list gets an invented answer: 20% malicious, 10% suspicious, 5% on the mail blocklist and nothing else, the rest without a verdict; 5% of queries are answered in part, every time. Networks, contacts and tags say that they are invented; the tag botnet:invented-swarm has more than 25,000 addresses, in 198.18.0.0/15. Invented tags list the addresses of reserved IPv4 blocks only; other addresses can have the tags without being listed.",
    "POST /_local/cases/ID/transition changes the state of a case and fires the webhooks that the dataset attaches to the change. These are real calls, with the subscriber data of the case.",
  ],
  groups: {
    Listening: { host, port },
    Answers: { dataset, synthetic, apiKey, blocklistField },
    Faults: faults,
    Run: { json: cliOptions.shape.json, quiet: cliOptions.shape.quiet },
  },
  examples: {
    "repute serve --port 8080":
      "serve the sample dataset; then, in another terminal: repute query login.example.com --intel-url http://127.0.0.1:8080/beta",
    "repute serve --port 8080 --partial-rate 0.05 --unavailable-rate 0.03 --reset-rate 0.01":
      "rehearse faults, the same every time; --seed 2 gives others",
  },
  exitCodes: endlessCodes,
  variables: {
    [secrets.intel.variable]: "same as --api-key",
    [secrets.ops.variable]:
      "access token of the operations interface [default sample-access-token]",
    [secrets.case.variable]: "API key of case contexts [default sample-case-api-key]",
  },
  run: async ({ settings, context }) => {
    const { json, quiet: _, ...own } = settings;
    const { startService, sampleAccessToken, sampleCaseApiKey } =
      await import("../../service/service.js");
    const accessToken = context.env["REPUTE_ACCESS_TOKEN"] || sampleAccessToken;
    const caseApiKey = context.env["REPUTE_CASE_API_KEY"] || sampleCaseApiKey;
    const { clock, signal } = context;
    const fireWebhook: FireWebhook = async (webhook, caseContext) => {
      const apiKey = { origin: service.caseUrl, key: caseApiKey };
      const options = { apiKey, retries: 2, timeout: 30_000, clock, signal };
      const { sendWebhook } = await import("../../jobs/webhooks/send.js");
      const { status, error } = await sendWebhook(webhook, caseContext, options);
      return error === null ? { status } : { status, error: error.message };
    };
    const service = await startService({ ...own, accessToken, caseApiKey, clock, fireWebhook });
    try {
      const { intelUrl, opsUrl, caseUrl } = service;
      if (service.exposed) context.reporter.warning(exposedWarning(own.host, service.port));
      const addresses = { intel_url: intelUrl, ops_url: opsUrl, case_url: caseUrl };
      if (json) await writeOut(context, `${JSON.stringify(addresses)}\n`);
      else await writeProse(context, `intel ${intelUrl}  ops ${opsUrl}  case ${caseUrl}\n`, 0);
      // A signal ends the service normally, so it is no interruption.
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      await service.close();
    }
  },
});

function exposedWarning(host: string, port: number): string {
  return `listening on ${host}, reachable from other machines: anyone who can connect to port ${port} can read the dataset, change cases and fire webhooks`;
}

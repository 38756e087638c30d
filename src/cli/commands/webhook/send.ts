import { z } from "zod";
import type { JsonObject } from "../../../core/finding.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { lookupOptions } from "../../../client/lookup/options.js";
import type { ApiKey, PrepareRules, WebhookRequest } from "../../../jobs/webhooks/prepare.js";
import type { Webhook } from "../../../jobs/webhooks/configuration.js";
import { caseCallGroups } from "../../services/services.js";
import {
  type CommandCall,
  defineCommand,
  type SettingsOf,
  interruptedExitCodes,
  quotaExitCodes,
} from "../../command.js";
import { wantsLines, writeOut, showRecord } from "../../terminal/data-output.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { printable } from "../../../core/wording/printable.js";
import { endpointKeysFile, readEndpointKeys, readSecret, secrets } from "../../options/secrets.js";
import { chosenContext, chosenWebhook, ofWebhooks, webhookOptions } from "./webhook-file.js";

const { name, case: caseId, context } = webhookOptions;

const groups = {
  Payload: {
    case: caseId,
    context,
    name,
    dryRun: option(z.boolean().default(false), {
      description: "Print the request without sending it",
    }),
    idempotencyKey: option(z.string().min(1).optional(), {
      description: "Idempotency key of an earlier call, to repeat it [default: a new key]",
      value: "KEY",
    }),
    exclude: option(lookupOptions.shape.exclude, {
      description:
        "List of what must not be sent, as of repute enrich. A payload that names anything on it, also within a text, is an error. Repeat it for several lists",
      value: "FILE",
      repeats: true,
    }),
  },
  ...caseCallGroups,
  Service: {
    ...caseCallGroups.Service,
    local: option(caseCallGroups.Service.local, {
      description:
        "Read the case from the embedded service. The webhook's endpoint is still called",
    }),
    endpointKeysFile,
  },
};

type Settings = SettingsOf<typeof groups>;

export const webhookSendCommand = defineCommand({
  ...ofWebhooks,
  name: "webhook send",
  usage: "FILE --case ID [--dry-run] [flags]",
  summary: "render a webhook for a case and call its endpoint",
  description: [
    "Reads the context of the case, fills in the payload and calls the endpoint. Network errors and 5xx answers are retried with the same idempotency key. Any other answer is final and explained.",
    "The key of the case management instance is sent only if the webhook calls that instance. Keys for other endpoints come from --endpoint-keys-file.",
  ],
  groups,
  examples: {
    "repute webhook send samples/webhooks/notify-crm.json --context samples/webhooks/case-context.json --dry-run":
      "print the request for a sample context; nothing leaves this machine",
    "repute webhook send notify.json --case 4711 --case-url https://cases.example":
      "send it; REPUTE_CASE_API_KEY holds the key",
    "repute webhook send notify.json --case 4711 --endpoint-keys-file ~/.repute/endpoint-keys.json":
      "send it with the endpoint's own API key",
  },
  exitCodes: [
    ["0", "delivered, or printed with --dry-run"],
    ["1", "not delivered, or the context could not be read"],
    ["2", "wrong usage, or a webhook that cannot be rendered"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
  run: send,
});

async function send(call: CommandCall<Settings>): Promise<number> {
  const { settings, context } = call;
  const webhook = await chosenWebhook(call);
  const apiKeys = await apiKeysOf(call);
  const caseContext = await chosenContext(call);
  if (caseContext === null) {
    throw new UsageError("case_missing", "webhook send needs a case", {
      hint: "add --case ID, or a saved context with --context FILE",
    });
  }
  const { readExclusions } = await import("../../../core/exclusions/read-exclusions.js");
  const exclusions = await readExclusions(settings.exclude ?? []);
  const rules = { apiKeys, exclusions, idempotencyKey: settings.idempotencyKey };
  if (!settings.dryRun) return deliver(call, webhook, caseContext, rules);
  const { prepareCall } = await import("../../../jobs/webhooks/prepare.js");
  const { shown: request } = prepareCall(webhook, caseContext, rules);
  if (wantsLines(call)) {
    await showRecord(call, { webhook: webhook.name, ...request });
  } else await writeOut(context, printable(httpText(request)));
  return exitCodes.done;
}

/** The API keys, each bound to the origin it may be sent to. */
async function apiKeysOf(call: CommandCall<Settings>): Promise<readonly ApiKey[]> {
  const { settings, given, context } = call;
  const keys = await readEndpointKeys(settings.endpointKeysFile, context);
  if (settings.caseUrl === undefined) return keys;
  const key = await readSecret(secrets.case, given, context);
  return key === null ? keys : [...keys, { origin: settings.caseUrl, key }];
}

async function deliver(
  call: CommandCall<Settings>,
  webhook: Webhook,
  caseContext: JsonObject,
  rules: PrepareRules,
): Promise<number> {
  const { settings, context } = call;
  const { sendWebhook } = await import("../../../jobs/webhooks/send.js");
  const delivery = await sendWebhook(webhook, caseContext, {
    ...rules,
    clock: context.clock,
    signal: context.signal,
    retries: settings.retries,
    timeoutMs: settings.timeout,
  });
  const { outcome, status, attempts, request, response, error } = delivery;
  await showRecord(call, {
    webhook: webhook.name,
    method: request.method,
    url: request.url,
    outcome,
    status,
    attempts,
    idempotency_key: delivery.idempotencyKey,
    response: response?.body ?? null,
  });
  if (error === null) return exitCodes.done;
  throw new FatalError(error.code, `webhook ${JSON.stringify(webhook.name)}: ${error.message}`);
}

/** A request in HTTP/1.1 message format (RFC 9112). */
function httpText({ method, url, headers, body }: WebhookRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${url}`, ...lines].join("\n")}\n\n${body ?? ""}\n`;
}

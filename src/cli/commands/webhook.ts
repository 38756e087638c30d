import { z } from "zod";
import type { CaseContext } from "../../client/api/calls.js";
import { UsageError, FatalError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import { caseCallGroups, withSession } from "../sessions.js";
import { type CommandCall, type SettingsOf, defineCommand, quotaCode } from "../command.js";
import { printRecords, wantsLines, showRecord } from "../terminal/data-output.js";
import { exitCodes } from "../../jobs/enrich/ending.js";
import { counted } from "../../core/wording/quantity.js";
import { lookupOptions } from "../../client/lookup/options.js";
import { readSecret, secrets } from "../options/secrets.js";

const webhookOptions = {
  case: option(z.string().min(1).optional(), {
    description: "Case whose context fills in the payload",
    value: "ID",
  }),
};

const webhookOperand = {
  operand: ["FILE", "YAML or JSON file with name, endpoint, method, path and payload"],
} as const;

type Call = CommandCall<SettingsOf<typeof caseCallGroups & { Webhook: typeof webhookOptions }>>;

async function chosenContext(call: Call): Promise<CaseContext | null> {
  const { case: id } = call.settings;
  if (id === undefined) return null;
  return withSession("case", call, async (session) =>
    (await session.cases()).context(id, { signal: call.context.signal }),
  );
}

export const webhookCheckCommand = defineCommand({
  ...webhookOperand,
  name: "webhook check",
  usage: "FILE [--case ID] [flags]",
  summary: "validate a webhook without calling its endpoint",
  description: [
    "Reads a webhook and prints its problems: one JSON object per line, on a terminal a table, nothing if there are none.",
    "With a case, fields missing from its context are errors, and subscriber data written as static text is a warning. Without a case, a note on stderr says what was not checked.",
  ],
  groups: { Webhook: webhookOptions, ...caseCallGroups },
  examples: {
    "repute webhook check samples/webhooks/notify-crm.json":
      "check the structure, the address and the syntax of fields",
    "repute webhook check notify.json --case 4711 --case-url https://cases.example":
      "check against the context of a case; REPUTE_CASE_API_KEY holds the key",
  },
  exitCodes: { 1: "the webhook has errors, or the context could not be read", ...quotaCode },
  run: async (call) => {
    const { context, operand } = call;
    const { checkWebhook, readWebhook } = await import("../../jobs/webhooks/webhook.js");
    const webhook = await readWebhook(operand, context.signal);
    const caseContext = (await chosenContext(call)) ?? undefined;
    const problems = checkWebhook(webhook, caseContext).map((problem) =>
      Object.assign({ webhook: webhook.name }, problem),
    );
    const columns = { level: "level", place: "pointer", what: "message" } as const;
    await printRecords(call, problems, columns);
    if (caseContext === undefined) {
      context.reporter.print(
        "repute: note: without a case, fields and static subscriber data were not checked; add --case ID",
      );
    } else if (Object.keys(caseContext.s?.resolver_data ?? {}).length === 0) {
      context.reporter.print(
        "repute: note: the context has no subscriber data (s.resolver_data), so static subscriber data was not checked",
      );
    }
    const errors = problems.filter(({ level }) => level === "error").length;
    if (!wantsLines(call)) {
      const warnings = counted(problems.length - errors, "warning");
      context.reporter.print(`${counted(errors, "error")}, ${warnings}`);
    }
    return errors > 0 ? exitCodes.stopped : exitCodes.done;
  },
});

export const webhookSendCommand = defineCommand({
  ...webhookOperand,
  name: "webhook send",
  usage: "FILE --case ID [--dry-run] [flags]",
  summary: "render a webhook for a case and call its endpoint",
  description: [
    "Reads the context of the case, fills in the payload and calls the endpoint. Network errors and 5xx answers are retried with the same idempotency key. Any other answer is final and explained.",
    "The key of the case management instance is sent only if the webhook calls that instance. With --local, the case is read from the embedded service, and the endpoint is still called.",
  ],
  groups: {
    Payload: {
      ...webhookOptions,
      dryRun: option(z.boolean().default(false), {
        description: "Print the request without sending it",
      }),
      exclude: lookupOptions.shape.exclude,
    },
    ...caseCallGroups,
  },
  examples: {
    "repute webhook send samples/webhooks/chat-message.json --case case-2001 --local --dry-run":
      "print the request for a sample case; nothing leaves this machine",
    "repute webhook send notify.json --case 4711 --case-url https://cases.example":
      "send it; REPUTE_CASE_API_KEY holds the key",
  },
  exitCodes: { 1: "not delivered, or the context could not be read", ...quotaCode },
  run: async (call) => {
    const { settings, given, context, operand } = call;
    const { clock, signal } = context;
    const { readWebhook } = await import("../../jobs/webhooks/webhook.js");
    const webhook = await readWebhook(operand, signal);
    const { caseUrl: origin } = settings;
    const key = origin === undefined ? null : await readSecret(secrets.case, given, context);
    const caseContext = await chosenContext(call);
    if (caseContext === null) {
      throw new UsageError("case_missing", "webhook send needs a case", {
        hint: "add --case ID",
      });
    }
    const { readExclusions } = await import("../../core/exclusions/read-exclusions.js");
    const exclusions = await readExclusions(settings.exclude ?? []);
    const rules = { apiKey: key === null ? null : { origin: origin!, key }, exclusions };
    const { prepareCall, sendWebhook } = await import("../../jobs/webhooks/send.js");
    if (settings.dryRun) {
      const { shown } = prepareCall(webhook, caseContext, rules);
      return showRecord(call, { webhook: webhook.name, ...shown });
    }
    const options = { ...settings, ...rules, clock, signal };
    const delivery = await sendWebhook(webhook, caseContext, options);
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
    if (error === null) return;
    throw new FatalError(error.code, `webhook ${JSON.stringify(webhook.name)}: ${error.message}`);
  },
});

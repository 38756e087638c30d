import type { CaseContext } from "../../../client/api/calls.js";
import type { Problem } from "../../../jobs/webhooks/problem.js";
import { caseCallGroups } from "../../services/services.js";
import {
  type CommandCall,
  defineCommand,
  type SettingsOf,
  interruptedExitCodes,
  quotaExitCodes,
} from "../../command.js";
import { printRecords, wantsLines } from "../../terminal/data-output.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { counted } from "../../../core/wording/quantity.js";
import { chosenContext, chosenWebhooks, ofWebhooks, webhookOptions } from "./webhook-file.js";

const { name, case: caseId, context } = webhookOptions;

const groups = { Webhook: { name, case: caseId, context }, ...caseCallGroups };

export const webhookCheckCommand = defineCommand({
  ...ofWebhooks,
  name: "webhook check",
  usage: "FILE [--case ID | --context FILE] [flags]",
  summary: "validate webhooks without calling their endpoints",
  description: [
    "Reads one webhook, an array of webhooks, or one per line, and prints the problems of each: one JSON object per line, on a terminal a table, nothing if all are valid.",
    "With a case, fields missing from its context are errors, and subscriber data written as static text is a warning. Without a case, a note on stderr says what was not checked.",
  ],
  groups,
  examples: {
    "repute webhook check samples/webhooks/notify-crm.json":
      "check the structure, the address and the syntax of fields",
    "repute webhook check notify.json --context context.json":
      "check the fields against a saved context",
    "repute webhook check notify.json --case 4711 --case-url https://cases.example":
      "check against the context of a case; REPUTE_CASE_API_KEY holds the key",
  },
  exitCodes: [
    ["0", "valid, possibly with warnings"],
    ["1", "a webhook has errors, or the context could not be read"],
    ["2", "wrong usage, or not a file of webhooks"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
  run: checkWebhooks,
});

interface FoundProblem extends Problem {
  readonly webhook: string;
}

async function checkWebhooks(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context } = call;
  const { checkWebhook } = await import("../../../jobs/webhooks/check.js");
  const webhooks = await chosenWebhooks(call);
  const caseContext = (await chosenContext(call)) ?? undefined;
  const problems = webhooks.flatMap((webhook) =>
    checkWebhook(webhook, caseContext).map(({ level, code, pointer, message }) => ({
      webhook: webhook.name,
      level,
      code,
      pointer,
      message,
    })),
  );
  await printRecords<FoundProblem>(
    call,
    problems,
    [
      ["webhook", ({ webhook }) => webhook],
      ["level", ({ level }) => level],
      ["place", ({ pointer }) => pointer],
      ["what", ({ message }) => message],
    ],
    { prose: true },
  );
  const note = notCompared(caseContext);
  if (note !== null) context.reporter.print(`repute: note: ${note}`);
  const errors = problems.filter(({ level }) => level === "error").length;
  if (!wantsLines(call)) {
    const parts = [
      counted(webhooks.length, "webhook"),
      counted(errors, "error"),
      counted(problems.length - errors, "warning"),
    ];
    context.reporter.print(parts.join(", "));
  }
  return errors > 0 ? exitCodes.stopped : exitCodes.done;
}

/** A note on what was not checked; null if everything was. */
function notCompared(caseContext: CaseContext | undefined): string | null {
  if (caseContext === undefined) {
    return "without a case, fields and static subscriber data were not checked; add --case ID or --context FILE";
  }
  if (Object.keys(caseContext.s?.resolver_data ?? {}).length > 0) return null;
  return "the context has no subscriber data (s.resolver_data), so static subscriber data was not checked";
}

import type { CaseContext } from "../../api/schema/operations.js";
import type { Problem } from "../../webhooks/problem.js";
import { caseCallGroups } from "../services/call-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { dataOutput, wantsLines } from "../terminal/data-output.js";
import { exitCodes, interruptedExitCodes, quotaExitCodes } from "../exit-code.js";
import { formatCount } from "../../core/quantity.js";
import {
  chosenContext,
  chosenWebhooks,
  ofWebhooks,
  webhookOptions,
} from "../services/webhook-file.js";

const { name, case: caseId, context } = webhookOptions;

const groups = { "What is checked": { name, case: caseId, context }, ...caseCallGroups };

/** Looks webhooks over without calling anything (behaviour: Webhooks). */
export const webhookCheckCommand = defineCommand({
  ...ofWebhooks,
  name: "webhook check",
  usage: "FILE [--case ID | --context FILE] [flags]",
  summary: "look the configuration of webhooks over, without calling their endpoints",
  description: [
    "Reads one webhook, an array of them, or one a line, and prints what is wrong with each: one JSON object a line, a table on a terminal, nothing when all is well.",
    "With a case to compare with, fields that its context lacks are errors, and subscriber data that stands in the payload as static text is warned about. Without one, a note on stderr says what was not checked.",
  ],
  groups,
  examples: {
    "repute webhook check samples/webhooks/notify-crm.json":
      "checks form and address, and that every field is well written",
    "repute webhook check notify.json --context context.json":
      "checks that the fields exist in a context kept before",
    "repute webhook check notify.json --case 4711 --case-url https://cases.example":
      "reads the context of a case; the key comes from REPUTE_CASE_API_KEY",
    "repute case context 4711 | repute webhook check notify.json --context -":
      "takes the context from a pipe",
  },
  exitCodes: [
    ["0", "nothing is wrong, though there may be warnings"],
    ["1", "a webhook has an error, or the context could not be read"],
    ["2", "wrong usage, or a file that is no configuration of webhooks"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
  run: checkWebhooks,
});

interface FoundProblem extends Problem {
  readonly webhook: string;
}

async function checkWebhooks(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { settings, context } = call;
  const { checkWebhook } = await import("../../webhooks/check.js");
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
  const output = dataOutput<FoundProblem>(call, [
    ["webhook", ({ webhook }) => webhook],
    ["level", ({ level }) => level],
    ["place", ({ pointer }) => pointer],
    ["what", ({ message }) => message],
  ]);
  for (const problem of problems) await output.add(problem);
  await output.end();
  const note = notCompared(caseContext);
  if (note !== null) context.reporter.print(`repute: note: ${note}`);
  const errors = problems.filter(({ level }) => level === "error").length;
  if (!wantsLines(settings.json, context)) {
    const parts = [
      counted(webhooks.length, "webhook"),
      counted(errors, "error"),
      counted(problems.length - errors, "warning"),
    ];
    context.reporter.print(parts.join(", "));
  }
  return errors > 0 ? exitCodes.stopped : exitCodes.done;
}

/** What a check could not look for; null when nothing was left out. */
function notCompared(caseContext: CaseContext | undefined): string | null {
  if (caseContext === undefined) {
    return "without a case, fields were not looked up and static subscriber data was not looked for; give --case ID or --context FILE";
  }
  if (Object.keys(caseContext.s?.resolver_data ?? {}).length > 0) return null;
  return "the context has no subscriber data (s.resolver_data), so static data was not looked for";
}

function counted(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;
}

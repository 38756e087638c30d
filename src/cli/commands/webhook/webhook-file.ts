import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { readPath } from "../../../core/files/read-path.js";
import { readJson } from "../../../core/json-members.js";
import type { CaseContext } from "../../../client/api/calls.js";
import { UsageError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import type { Webhook } from "../../../jobs/webhooks/configuration.js";
import { type caseCallGroups, askService } from "../../services/services.js";
import type { CommandCall, SettingsOf } from "../../command.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { fileFault } from "../../terminal/reporter.js";

/** Options that select webhooks and the case to render them with. */
export const webhookOptions = {
  name: option(z.string().min(1).optional(), {
    description: "Name of the webhook to use, if the file has several",
    value: "NAME",
  }),
  case: option(z.string().min(1).optional(), {
    description: "Case whose context fills in the payload",
    value: "ID",
  }),
  context: option(z.string().min(1).optional(), {
    description: "JSON file with a context, as printed by repute case context; - for stdin",
    value: "FILE",
  }),
};

export const ofWebhooks = {
  operands: [["FILE", "YAML or JSON file with name, endpoint, method, path and payload"]],
  operandCount: "one",
} as const;

type Call = CommandCall<SettingsOf<typeof caseCallGroups & { Webhook: typeof webhookOptions }>>;

/**
 * Reads the webhooks selected by a call.
 *
 * @throws UsageError if the file is unreadable or malformed, or has no webhook of that name
 */
export async function chosenWebhooks(call: Call): Promise<readonly Webhook[]> {
  const { readWebhooks } = await import("../../../jobs/webhooks/configuration.js");
  const { settings, operand: file } = call;
  const webhooks = await readWebhooks(file, call.context.signal);
  const { name } = settings;
  if (name === undefined) return webhooks;
  const chosen = webhooks.filter((webhook) => webhook.name === name);
  if (chosen.length > 0) return chosen;
  const names = webhooks.map((webhook) => webhook.name);
  const meant = didYouMean(name, names);
  throw new UsageError("webhook_unknown", `${file} has no webhook ${JSON.stringify(name)}`, {
    hint: meant === null ? `it has ${shownNames(names)}` : `did you mean ${JSON.stringify(meant)}?`,
  });
}

/**
 * Reads the one webhook selected by a call.
 *
 * @throws UsageError `webhook_ambiguous` for several; as `chosenWebhooks`
 */
export async function chosenWebhook(call: Call): Promise<Webhook> {
  const [webhook, ...others] = await chosenWebhooks(call);
  if (webhook && others.length === 0) return webhook;
  const names = [webhook, ...others].flatMap((each) => (each ? [each.name] : []));
  throw new UsageError("webhook_ambiguous", `${call.operand} has ${names.length} webhooks`, {
    hint: `choose one with --name: ${shownNames(names)}`,
  });
}

function shownNames(names: readonly string[]): string {
  const most = 10;
  const rest = names.length - most;
  const list = names.slice(0, most).map((name) => JSON.stringify(name));
  return list.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/**
 * Reads the context selected by a call; null if none is.
 *
 * @throws UsageError if two are selected or the file is unreadable; ServiceError, FatalError
 */
export async function chosenContext(call: Call): Promise<CaseContext | null> {
  const { case: id, context: file } = call.settings;
  if (id !== undefined && file !== undefined) {
    const names = ["case", "context"].map((key) => call.given.get(key)?.name).join(" and ");
    throw new UsageError("case_and_context", `${names} exclude each other`, { hint: "keep one" });
  }
  if (file !== undefined) return readContext(file, call.context);
  if (id === undefined) return null;
  const { signal } = call.context;
  return askService("case", call, (client) => client.context(id, { signal }));
}

async function readContext(file: string, { stdin, signal }: CliContext): Promise<CaseContext> {
  const name = file === "-" ? "stdin" : file;
  const bytes = await (file === "-" ? buffer(stdin()) : readPath(file, { signal })).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      const message = `cannot read ${name}: ${fileFault(error)}`;
      throw new UsageError("context_unreadable", message, { cause: error });
    },
  );
  const { value, fault } = readJson(bytes);
  if (fault !== null) throw new UsageError("context_json", `the context ${name} ${fault}`);
  const { caseContextSchema } = await import("../../../client/api/calls.js");
  const parsed = caseContextSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new UsageError(
    "context_schema",
    `the context ${name} must be a JSON object${place === "" ? "" : `; wrong at ${place}`}`,
    { hint: "to print one: repute case context ID" },
  );
}

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { readJson } from "../../core/json-members.js";
import type { CaseContext } from "../../api/schema/operations.js";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import type { Webhook } from "../../webhooks/configuration.js";
import type { caseCallGroups } from "./call-options.js";
import type { CliContext, CommandCall, SettingsOf } from "../command.js";
import { fileFault } from "../terminal/reporter.js";
import { askService } from "./with-client.js";

/** Options by which webhooks and the case that they are held against are named. */
export const webhookOptions = {
  name: option(z.string().min(1).optional(), {
    description: "Which webhook of the file, by its name",
    value: "NAME",
  }),
  case: option(z.string().min(1).optional(), {
    description: "Case whose context the payload is filled in from",
    value: "ID",
  }),
  context: option(z.string().min(1).optional(), {
    description: "JSON file with a context, as repute case context prints it; - for stdin",
    value: "FILE",
  }),
};

/** What the commands of webhooks have in common. */
export const ofWebhooks = {
  operands: [["FILE", "JSON file with name, endpoint, method, path and payload"]],
  onlyOperand: { what: "a file" },
} as const;

type Call = CommandCall<SettingsOf<typeof caseCallGroups & { Webhook: typeof webhookOptions }>>;

/**
 * The webhooks that a call is about.
 *
 * @throws UsageError when the file cannot be read or understood, or has none of that name
 */
export async function chosenWebhooks(call: Call): Promise<readonly Webhook[]> {
  const { readWebhooks } = await import("../../webhooks/configuration.js");
  const { settings, operand: file } = call;
  const webhooks = await readWebhooks(file);
  const { name } = settings;
  if (name === undefined) return webhooks;
  const chosen = webhooks.filter((webhook) => webhook.name === name);
  if (chosen.length > 0) return chosen;
  const names = webhooks.map((webhook) => webhook.name);
  const { closestName } = await import("../../webhooks/closest-name.js");
  const meant = closestName(name, names);
  throw new UsageError("webhook_unknown", `${file} has no webhook ${JSON.stringify(name)}`, {
    hint: meant === null ? `it has ${shownNames(names)}` : `did you mean ${JSON.stringify(meant)}?`,
  });
}

/** Names of webhooks as a message lists them. */
export function shownNames(names: readonly string[]): string {
  const most = 10;
  const rest = names.length - most;
  const list = names.slice(0, most).map((name) => JSON.stringify(name));
  return list.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/**
 * The context that a call names; null when it names none.
 *
 * @throws UsageError when it names two, or its file cannot be read; ServiceError, FatalError
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

async function readContext(file: string, { stdin }: CliContext): Promise<CaseContext> {
  const name = file === "-" ? "stdin" : file;
  const { value, fault } = readJson(await bytesOf(file, stdin));
  if (fault !== null) throw new UsageError("context_json", `the context ${name} ${fault}`);
  const { caseContextSchema } = await import("../../api/schema/operations.js");
  const parsed = caseContextSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new UsageError(
    "context_schema",
    `the context ${name} must be a JSON object${place === "" ? "" : `; wrong at ${place}`}`,
    { hint: "repute case context ID prints one" },
  );
}

async function bytesOf(file: string, stdin: CliContext["stdin"]): Promise<Buffer> {
  if (file !== "-") {
    return readFile(file).catch((error: unknown) => {
      throw new UsageError("context_unreadable", `cannot read ${file}: ${fileFault(error)}`, {
        cause: error,
      });
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin()) chunks.push(Buffer.from(chunk as Buffer | string));
  return Buffer.concat(chunks);
}

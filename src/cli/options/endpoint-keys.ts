import { z } from "zod";
import { readJson } from "../../core/json-members.js";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import type { ApiKey } from "../../webhooks/prepare.js";
import type { CliContext } from "../terminal/cli-context.js";
import { keyFault, readKeyFile } from "./secrets.js";

export const endpointKeysFile = option(z.string().min(1).optional(), {
  description:
    'JSON file with API keys by endpoint: {"https://crm.example": "KEY"}. Each is sent as Bearer to its own origin only',
  value: "PATH",
});

const longestFile = 1024 * 1024;

const keysSchema = z.record(z.url({ protocol: /^https?$/ }), z.string().min(1));

/**
 * Reads the API keys of webhook endpoints; none without a file.
 *
 * @throws UsageError if the file is unreadable or malformed; never shows a key
 */
export async function readEndpointKeys(
  path: string | undefined,
  context: Pick<CliContext, "reporter" | "signal">,
): Promise<readonly ApiKey[]> {
  if (path === undefined) return [];
  const bytes = await readKeyFile(path, "the endpoint keys file", longestFile, context);
  const { value, fault } = readJson(bytes);
  const parsed = keysSchema.safeParse(value);
  if (fault !== null || !parsed.success) {
    throw new UsageError(
      "secret_malformed",
      `${path} must contain a JSON object of API keys by endpoint${fault === null ? "" : `; it ${fault}`}`,
      { hint: 'for example {"https://crm.example": "KEY"}' },
    );
  }
  return Object.entries(parsed.data).map(([origin, text]) => {
    const key = text.trim();
    const wrong = keyFault(key);
    if (wrong === null) return { origin, key };
    throw new UsageError(
      "secret_malformed",
      `${path} contains no valid API key for ${origin}: ${wrong}`,
    );
  });
}

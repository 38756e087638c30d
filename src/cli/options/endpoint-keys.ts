import { z } from "zod";
import { readJson } from "../../core/json-members.js";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import type { ApiKey } from "../../webhooks/prepare.js";
import type { CliContext } from "../command.js";
import { fileFault } from "../terminal/reporter.js";
import { keyFault, readKeyFile } from "./secrets.js";

/** Where the keys of endpoints other than the case management instance are. */
export const endpointKeysFile = option(z.string().min(1).optional(), {
  description:
    'JSON file with API keys by endpoint, {"https://crm.example": "KEY"}; each is sent as Bearer to its own origin alone',
  value: "PATH",
});

/** Longest file of keys, in bytes. */
const longestFile = 1024 * 1024;

const keysSchema = z.record(z.url({ protocol: /^https?$/ }), z.string().min(1));

/**
 * Reads the API keys of endpoints; none without a file.
 *
 * @throws UsageError when the file cannot be read or understood; never shows a key
 */
export async function readEndpointKeys(
  path: string | undefined,
  context: Pick<CliContext, "reporter" | "signal">,
): Promise<readonly ApiKey[]> {
  if (path === undefined) return [];
  const bytes = await readKeyFile(path, longestFile, context).catch((error: unknown) => {
    context.signal.throwIfAborted();
    throw new UsageError(
      "secret_unreadable",
      `cannot read ${path}, the file of the endpoints' API keys: ${fileFault(error)}`,
      { cause: error },
    );
  });
  if (bytes === null) {
    throw new UsageError("secret_malformed", `${path} holds more than ${longestFile} bytes`, {
      hint: "give the JSON file of the endpoints' API keys",
    });
  }
  const { value, fault } = readJson(bytes);
  const parsed = keysSchema.safeParse(value);
  if (fault !== null || !parsed.success) {
    throw new UsageError(
      "secret_malformed",
      `${path} must hold a JSON object of API keys by endpoint${fault === null ? "" : `; it ${fault}`}`,
      { hint: 'for example {"https://crm.example": "KEY"}' },
    );
  }
  return Object.entries(parsed.data).map(([origin, text]) => {
    const key = text.trim();
    const wrong = keyFault(key);
    if (wrong === null) return { origin, key };
    throw new UsageError("secret_malformed", `${path} holds no API key for ${origin}: ${wrong}`);
  });
}

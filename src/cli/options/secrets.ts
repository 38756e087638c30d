import { stat } from "node:fs/promises";
import { UsageError } from "../../core/errors.js";
import { readNamed } from "../../core/files/read-path.js";
import { shellWord } from "../../core/wording/quantity.js";
import type { CliContext } from "../terminal/cli-context.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

type KeyContext = Pick<CliContext, "reporter" | "signal">;

export type Secret = (typeof secrets)[keyof typeof secrets];

/** Names are as in "contains no API key". */
export const secrets = {
  intel: {
    name: "API key",
    variable: "REPUTE_API_KEY",
    fileKey: "apiKeyFile",
    meaning: "API key, sent as x-api-key",
  },
  ops: {
    name: "access token",
    variable: "REPUTE_ACCESS_TOKEN",
    fileKey: "accessTokenFile",
    meaning: "access token of the operations interface, sent as Bearer",
  },
  case: {
    name: "case API key",
    variable: "REPUTE_CASE_API_KEY",
    fileKey: "caseApiKeyFile",
    meaning: "API key of the case management instance, sent as Bearer",
  },
} as const;

/**
 * The secret, or null if none is configured. A file named by a flag overrides the variable, which
 * overrides a file named by another variable or the config file.
 *
 * @throws UsageError if the file is unreadable or its content malformed; never shows the content
 */
export async function readSecret(
  secret: Secret,
  given: GivenSettings,
  context: KeyContext & Pick<CliContext, "env">,
): Promise<string | null> {
  const file = secretOrigin(secret, given, context.env);
  if (file === null) return null;
  if (file === "variable") {
    return checked(secret, context.env[secret.variable] ?? "", secret.variable);
  }
  const path = String(file.value);
  const what = `the ${secret.name} file (${file.name})`;
  return checked(secret, (await readKeyFile(path, what, context)).toString(), path);
}

/** The setting that names the secret's file, or `variable`; null when neither is given. */
export function secretOrigin(
  { variable, fileKey }: Secret,
  given: GivenSettings,
  env: CliContext["env"],
): GivenSetting | "variable" | null {
  const file = given.get(fileKey) ?? null;
  return (env[variable] ?? "") !== "" && file?.level !== "flag" ? "variable" : file;
}

/** @param place where the text comes from, as messages name it */
function checked({ name }: Secret, text: string, place: string): string {
  const value = text.replace(/^\uFEFF/, "").trim();
  const fault = keyFault(value);
  if (fault === null) return value;
  throw new UsageError("secret_malformed", `${place} contains no ${name}: ${fault}`, {
    hint: "expected one line of ASCII without spaces",
  });
}

/** Maximum length of a key in characters: about what servers accept in a header. */
const longestKey = 16 * 1024;

/** Maximum size of a key file in bytes, with room for white space. */
const longestKeyFile = longestKey + 1024;

/**
 * Reads a secret's file, and warns if every user can read or change it. Process substitution, named
 * pipes and devices work too.
 *
 * @param what the file as messages name it
 * @throws UsageError `secret_unreadable`; the signal's reason if it aborts first
 */
async function readKeyFile(
  path: string,
  what: string,
  { reporter, signal }: KeyContext,
): Promise<Buffer> {
  const stats = await stat(path).catch(() => null);
  // Group access may be intended: Kubernetes gives it to a Secret under `fsGroup`.
  if (stats?.isFile() && process.platform !== "win32" && (stats.mode & 0o006) !== 0) {
    reporter.warning(
      `every user of this machine can read or change the secret in ${path}: run chmod 600 ${shellWord(path)}`,
    );
  }
  const limit = longestKeyFile;
  return readNamed(path, "secret_unreadable", `${path}, ${what}`, { signal, limit });
}

/** Why a text cannot be a header value (RFC 9110, 5.5); null if it can. */
function keyFault(text: string): string | null {
  if (text === "") return "it is empty";
  if (text.length > longestKey) return `it is longer than ${longestKey} characters`;
  if (/^[\u0021-\u007E]+$/.test(text)) return null;
  return "it contains a space, a line break or another character that is not allowed in an HTTP header";
}

/** A flag that would hold a secret. There is none, but people try, and a record has the command line. */
export const secretFlag = /^--[\w-]*(?:auth|api-?key|token|password|secret)$/i;

export const secretHint =
  "a secret is never a flag: set a variable, such as REPUTE_API_KEY, or name a file that holds it, with --api-key-file PATH";

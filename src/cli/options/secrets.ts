import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { UsageError } from "../../core/errors.js";
import type { CliContext } from "../command.js";
import { fileFault } from "../terminal/reporter.js";
import { flagName } from "./option-spec.js";
import type { GivenSetting, GivenSettings } from "./settings.js";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { shellWord } from "../../core/quantity.js";

/** A secret: where it may come from, which is never a flag and never the configuration itself. */
export interface Secret {
  /** As in "holds no API key". */
  readonly name: string;
  /** Variable that holds it. */
  readonly variable: string;
  /** Option that names a file with it. */
  readonly fileKey: string;
  /** What people may take for its flag, in lower case and without dashes. */
  readonly misnomers: readonly string[];
  /** What it is for, as the help says it. */
  readonly meaning: string;
}

/** The secrets that repute knows, by service (facts: credential; interface: Authentication). */
export const secrets = {
  intel: {
    name: "API key",
    variable: "REPUTE_API_KEY",
    fileKey: "apiKeyFile",
    misnomers: ["apikey", "xapikey", "key", "password"],
    meaning: "key sent as x-api-key; nothing is sent without one",
  },
  ops: {
    name: "access token",
    variable: "REPUTE_ACCESS_TOKEN",
    fileKey: "accessTokenFile",
    misnomers: ["accesstoken", "token"],
    meaning: "token for the operations interface, sent as Bearer",
  },
  case: {
    name: "case API key",
    variable: "REPUTE_CASE_API_KEY",
    fileKey: "caseApiKeyFile",
    misnomers: ["caseapikey"],
    meaning: "API key of the case management instance, sent as Bearer",
  },
} as const satisfies Record<string, Secret>;

/** The secret that somebody tries to give as a flag or in the configuration, or null. */
export function secretNamed(name: string): Secret | null {
  const word = name.toLowerCase().replaceAll(/[-_]/g, "");
  return Object.values<Secret>(secrets).find(({ misnomers }) => misnomers.includes(word)) ?? null;
}

/** How the secret is given instead. `why` it is not taken is how the hint begins. */
export function secretHint(why: string, { variable, fileKey }: Secret): string {
  return `${why}: set ${variable}, or name a file that holds it with --${flagName(fileKey)} PATH`;
}

/**
 * Checks that the files of secrets that flags name are there, needed or not: a name on the command
 * line is a wish, and a mistake in it must not go unseen.
 *
 * @throws UsageError for the first that is not
 */
export async function checkSecretFiles(flags: GivenSettings): Promise<void> {
  for (const secret of Object.values(secrets)) {
    const file = flags.get(secret.fileKey);
    if (file === undefined) continue;
    await access(String(file.value), constants.R_OK).catch((error: unknown) => {
      throw unreadable(secret, file, error);
    });
  }
}

/**
 * The secret, or null when none is configured. A file named by a flag beats the variable, which
 * beats a file named by another variable or the configuration.
 *
 * @throws UsageError when the file cannot be read, or what it holds can be no secret; never shows it
 */
export async function readSecret(
  secret: Secret,
  given: GivenSettings,
  context: Pick<CliContext, "env" | "reporter" | "signal">,
): Promise<string | null> {
  const file = secretOrigin(secret, given, context.env);
  if (file === null) return null;
  if (file === "variable") {
    return checked(secret, context.env[secret.variable] ?? "", secret.variable);
  }
  const path = String(file.value);
  const bytes = await readKeyFile(path, longestKeyFile, context).catch((error: unknown) => {
    context.signal.throwIfAborted();
    throw unreadable(secret, file, error);
  });
  if (bytes !== null) return checked(secret, bytes.toString(), path);
  throw malformed(secret, path, `it is longer than ${longestKeyFile} bytes`);
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

function checked(secret: Secret, text: string, place: string): string {
  const value = text.replace(/^\uFEFF/, "").trim();
  const fault = keyFault(value);
  if (fault === null) return value;
  throw malformed(secret, place, fault);
}

function unreadable(
  { name }: Secret,
  { value, name: place }: GivenSetting,
  error: unknown,
): UsageError {
  return new UsageError(
    "secret_unreadable",
    `cannot read ${String(value)}, the file of the ${name} (${place}): ${fileFault(error)}`,
    { cause: error },
  );
}

function malformed({ name }: Secret, place: string, fault: string): UsageError {
  return new UsageError("secret_malformed", `${place} holds no ${name}: ${fault}`, {
    hint: "a key is one line of ASCII without spaces",
  });
}

/** Longest key, in characters: servers take no longer headers. */
const longestKey = 16 * 1024;

/** Longest file that holds one key, in bytes; white space may surround it. */
const longestKeyFile = longestKey + 1024;

type KeyFileContext = Pick<CliContext, "reporter" | "signal">;

/**
 * Reads a file that holds secrets, and warns when other users can read it. Named pipes, process
 * substitution and devices are read too, never further than the limit.
 *
 * @returns the bytes, or null when there are more than `limit`
 * @throws the signal's reason when it aborts first; errors of the file system
 */
export async function readKeyFile(
  path: string,
  limit: number,
  { reporter, signal }: KeyFileContext,
): Promise<Buffer | null> {
  const stats = await stat(path);
  if (stats.isFile() && process.platform !== "win32" && (stats.mode & 0o066) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(3, "0");
    reporter.warning(
      `other users can read or change ${path} (mode ${mode}), which holds a secret: chmod 600 ${shellWord(path)}`,
    );
  }
  // Opened in the usual way, a named pipe without a writer blocks a thread, and with it the exit.
  const blocking = stats.isFIFO() ? constants.O_NONBLOCK : 0;
  const file = await open(path, constants.O_RDONLY | blocking);
  try {
    const stream: Readable = stats.isFIFO()
      ? new Socket({ fd: file.fd, readable: true, writable: false, signal })
      : file.createReadStream({ end: limit, autoClose: false, signal });
    return await bytesOf(stream, limit);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await file.close().catch(() => undefined); // the socket has closed it
  }
}

/** Why a text cannot travel as the value of a header (RFC 9110, 5.5); null when it can. */
export function keyFault(text: string): string | null {
  if (text === "") return "it is empty";
  if (text.length > longestKey) return `it is longer than ${longestKey} characters`;
  if (/[\r\n]/.test(text)) return "it has a line break inside";
  if (/\s/.test(text)) return "it has a space inside";
  if (!/^[\u0021-\u007E]+$/.test(text)) return "it has characters that no HTTP header can carry";
  return null;
}

async function bytesOf(stream: Readable, limit: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

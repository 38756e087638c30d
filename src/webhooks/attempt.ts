import { errors as undici } from "undici";
import type { Dispatcher } from "undici";
import { Transport } from "../api/http/transport.js";
import { TransportError } from "../api/http/transport-error.js";
import type { Answer } from "../api/types.js";
import { CredentialMask } from "../core/credential-mask.js";
import type { PreparedCall } from "./prepare.js";

/** What a receiver answered, as far as a person may see it. */
export interface Reply {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly location: string | null;
  readonly allow: string | null;
  /** The beginning of the body, the API key blotted out where the server echoes it. */
  readonly body: string;
  /** True when the body went on, or broke off. */
  readonly truncated: boolean;
}

/** Bytes of a character, at most, with JSON's escapes: `\u006b`. */
const longestSpelling = 6;

/** Most that is kept of a body: it is for explanations. */
const keptBodyBytes = 64 * 1024;

/**
 * Makes a call once. Redirects are not followed. The status counts, whatever becomes of the body.
 *
 * @param timeoutMs from connecting to the last byte that is read
 * @throws TransportError; the signal's reason when it aborts; what undici throws for a closed
 *   dispatcher
 */
export async function attemptCall(
  { url, headers, body, apiKey, shown }: PreparedCall,
  dispatcher: Dispatcher,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Reply> {
  const transport = new Transport({
    baseUrl: url.origin,
    dispatcher,
    timeoutMs,
    beginningOnly: true,
    // So much more that a key across the cut is seen whole and blotted out.
    maxBodyBytes: keptBodyBytes + longestSpelling * (apiKey?.length ?? 0),
    headers: apiKey === null ? [] : [["authorization", `Bearer ${apiKey}`]],
  });
  const answer = await transport
    .send({ method: shown.method, path: url.pathname + url.search, headers, body }, signal)
    .catch((error: unknown) => {
      throw isMisuse(error) ? (error.cause as Error) : error;
    });
  const mask = apiKey === null ? null : new CredentialMask(apiKey);
  const header = (name: string): string | null => {
    const value = [answer.headers[name]].flat()[0];
    return value === undefined ? null : (mask?.inText(value) ?? value);
  };
  return {
    status: answer.status,
    headers: answer.headers,
    location: header("location"),
    allow: header("allow"),
    body: answer.body.toString("utf8").slice(0, keptBodyBytes),
    truncated: answer.truncated === true || answer.body.length > keptBodyBytes,
  };
}

function isMisuse(error: unknown): error is TransportError {
  const cause = error instanceof TransportError ? error.cause : null;
  return cause instanceof undici.ClientClosedError || cause instanceof undici.ClientDestroyedError;
}

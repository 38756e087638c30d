import { errors as undici } from "undici";
import type { Dispatcher } from "undici";
import { Transport } from "../api/http/transport.js";
import { TransportError } from "../api/http/transport-error.js";
import type { Answer } from "../api/types.js";
import { CredentialMask } from "../core/redaction/credential-mask.js";
import type { PreparedCall } from "./prepare.js";

/** A receiver's answer, safe to display. */
export interface Reply {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly location: string | null;
  readonly allow: string | null;
  /** The start of the body. An echoed API key is masked. */
  readonly body: string;
  /** True if the body was longer or broke off. */
  readonly truncated: boolean;
}

/** Maximum bytes per character of a key, with JSON escapes such as `\u006b`. */
const maxBytesPerChar = 6;

/** Maximum size of a kept body. It only serves to explain failures. */
const keptBodyBytes = 64 * 1024;

/**
 * Makes a call once, without following redirects. Succeeds once there is a status, even if the body
 * breaks off.
 *
 * @param timeoutMs from connecting to the last byte read
 * @throws TransportError; the signal's reason if aborted; undici's error for a closed dispatcher
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
    // Read far enough past the cut that a key across it is found and masked.
    maxBodyBytes: keptBodyBytes + maxBytesPerChar * (apiKey?.length ?? 0),
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

import type { Dispatcher } from "undici";
import type { Answer } from "../types.js";
import { createDispatcher } from "./dispatcher.js";
import { Transport } from "./transport.js";

/** A request to an address of the user's own: a webhook's receiver, or a monitor. */
export interface OneRequest {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The `Authorization` header; hidden in the answer. */
  readonly authorization: string | null;
  /** From connecting to the last byte read, in milliseconds. */
  readonly timeoutMs: number;
  /** The answer's body is not read further than this. */
  readonly keptBytes: number;
  /** Source of the proxy's address. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Makes one request over its own connection, without following redirects. Succeeds once there is a
 * status, even if the body is longer than what is kept, or breaks off.
 *
 * @throws TransportError; UsageError for an unusable proxy; the signal's reason if aborted
 */
export async function sendOnce(request: OneRequest, signal: AbortSignal): Promise<Answer> {
  const { url, method, headers, body, authorization, timeoutMs, keptBytes, env } = request;
  const options = env === undefined ? { connections: 1 } : { connections: 1, env };
  const dispatcher = createDispatcher(url.origin, options);
  try {
    const transport = new Transport({
      baseUrl: url.origin,
      dispatcher,
      timeoutMs,
      beginningOnly: true,
      maxBodyBytes: keptBytes,
      headers: authorization === null ? [] : [["authorization", authorization]],
    });
    const path = url.pathname + url.search;
    return await transport.send({ method, path, headers, body }, signal);
  } finally {
    await dispatcher.destroy();
  }
}

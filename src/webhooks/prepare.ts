import { randomUUID } from "node:crypto";
import { UsageError } from "../core/errors.js";
import type { JsonObject } from "../core/finding.js";
import { addressProblems, shownUrl, webhookUrl } from "./address.js";
import type { Webhook } from "./configuration.js";
import { errorAt, refuseErrors, WebhookError } from "./problem.js";
import { renderCollecting } from "./render.js";

/** An API key and where it may go. */
export interface ApiKey {
  /** The key is sent to this origin (scheme, host, port) only; of a longer address the origin counts. */
  readonly origin: string;
  /** The key itself, sent as `Authorization: Bearer <key>` (interface: Authentication, 3). */
  readonly key: string;
}

export interface PrepareOptions {
  /** @default none: the call bears no Authorization header */
  readonly apiKeys?: readonly ApiKey[] | undefined;
  /**
   * Bears the same value on every attempt of a call, so that the receiver can tell a repetition
   * from a second call. Give the key of an earlier call to repeat that one.
   *
   * @default a new random UUID
   */
  readonly idempotencyKey?: string | undefined;
}

/** A call as it may be shown: secrets are replaced by `[hidden]`. */
export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  /** Header fields, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent, or null for none. Bears subscriber data. */
  readonly body: string | null;
}

/** A call ready to be made. `headers` are without the key. */
export interface PreparedCall {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly idempotencyKey: string;
  readonly apiKey: string | null;
  readonly shown: WebhookRequest;
}

/**
 * What {@link sendWebhook} would send, without sending it.
 *
 * @throws WebhookError when payload or address are at fault
 * @throws UsageError when an API key or the idempotency key cannot stand in a header
 */
export function previewWebhook(
  webhook: Webhook,
  context: JsonObject,
  options: PrepareOptions = {},
): WebhookRequest {
  return prepareCall(webhook, context, options).shown;
}

/** Renders a webhook for a case; throws as {@link previewWebhook}. */
export function prepareCall(
  webhook: Webhook,
  context: JsonObject,
  { apiKeys = [], idempotencyKey = randomUUID() }: PrepareOptions,
): PreparedCall {
  const rendering = renderCollecting(webhook.payload, context);
  refuseErrors([...addressProblems(webhook), ...rendering.problems], webhook.name);
  const url = webhookUrl(webhook);
  const { body, contentType } = encode(rendering.value, webhook.name);
  const apiKey = keyFor(url.origin, apiKeys);
  if (!/^[\u0021-\u007e]{1,255}$/.test(idempotencyKey)) {
    throw new UsageError(
      "idempotency_key",
      "an idempotency key is 1 to 255 visible ASCII characters without spaces",
    );
  }
  const headers: Record<string, string> = {
    accept: "*/*",
    "user-agent": "repute",
    "idempotency-key": idempotencyKey,
  };
  if (contentType !== null) headers["content-type"] = contentType;
  const shownHeaders = apiKey === null ? headers : { ...headers, authorization: "Bearer [hidden]" };
  const shown = { method: webhook.method, url: shownUrl(url), headers: shownHeaders, body };
  return { url, headers, body, idempotencyKey, apiKey, shown };
}

/** A rendered text goes as text, null as nothing, everything else as JSON. */
function encode(
  payload: unknown,
  name: string,
): { body: string | null; contentType: string | null } {
  if (payload === null || payload === undefined) return { body: null, contentType: null };
  if (typeof payload === "string") {
    return { body: payload, contentType: "text/plain; charset=utf-8" };
  }
  try {
    return { body: JSON.stringify(payload), contentType: "application/json" };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = "the rendered payload is nested too deep, or too large, to be sent";
    throw new WebhookError([errorAt("/payload", "too_large", message)], name);
  }
}

function keyFor(origin: string, apiKeys: readonly ApiKey[]): string | null {
  for (const entry of apiKeys) {
    const url = URL.canParse(entry.origin) ? new URL(entry.origin) : null;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") {
      throw new UsageError(
        "api_key_origin",
        "an API key needs the http:// or https:// address that it is for",
      );
    }
    if (url.origin !== origin) continue;
    if (!/^[\u0021-\u007e]+$/.test(entry.key)) {
      throw new UsageError(
        "api_key",
        `the API key for ${origin} is empty or holds characters that no header can bear (white space, line breaks, non-ASCII)`,
      );
    }
    return entry.key;
  }
  return null;
}

import { randomUUID } from "node:crypto";
import { UsageError } from "../core/errors.js";
import type { JsonObject } from "../core/finding.js";
import type { ExclusionList } from "../core/exclusions/exclusion-list.js";
import { addressProblems, shownUrl, webhookUrl } from "./address.js";
import type { Webhook } from "./configuration.js";
import { excludedValues } from "./excluded.js";
import { errorAt, throwErrors, WebhookError } from "./problem.js";
import { renderCollecting } from "./render.js";

/** An API key and the origin it is for. */
export interface ApiKey {
  /**
   * Origin (scheme, host, port) that the key is sent to. The rest of a longer address is ignored.
   */
  readonly origin: string;
  /** The key, sent as `Authorization: Bearer <key>`. */
  readonly key: string;
}

export interface PrepareOptions {
  /** @default none: the call has no Authorization header */
  readonly apiKeys?: readonly ApiKey[] | undefined;
  /**
   * Sent with every attempt of a call, so that the receiver can tell a repetition from a new call.
   * To repeat an earlier call, pass its key.
   *
   * @default a new random UUID
   */
  readonly idempotencyKey?: string | undefined;
}

/** What else a call depends on. */
export interface PrepareRules extends PrepareOptions {
  /** A payload with what one of them names is not sent. @default none */
  readonly exclusions?: readonly ExclusionList[] | undefined;
}

/** A call for display, with secrets replaced by `[hidden]`. */
export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  /** Header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent; null for none. Contains subscriber data. */
  readonly body: string | null;
}

/** A call ready to be made. `headers` lack the API key. */
export interface PreparedCall {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly idempotencyKey: string;
  readonly apiKey: string | null;
  readonly shown: WebhookRequest;
}

/**
 * Renders a webhook for a case, without sending it.
 *
 * @throws WebhookError if the payload or the address is invalid
 * @throws UsageError if an API key or the idempotency key does not fit in a header
 */
export function prepareCall(
  webhook: Webhook,
  context: JsonObject,
  { apiKeys = [], idempotencyKey = randomUUID(), exclusions = [] }: PrepareRules = {},
): PreparedCall {
  const rendering = renderCollecting(webhook.payload, context);
  const excluded = excludedValues(rendering.value, exclusions);
  throwErrors([...addressProblems(webhook), ...rendering.problems, ...excluded], webhook.name);
  const url = webhookUrl(webhook);
  const { body, contentType } = encode(rendering.value, webhook.name);
  const apiKey = keyFor(url.origin, apiKeys);
  if (!/^[\u0021-\u007e]{1,255}$/.test(idempotencyKey)) {
    throw new UsageError(
      "idempotency_key",
      "an idempotency key must have 1 to 255 visible ASCII characters and no spaces",
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

/** Encodes a payload: a string as text, null as no body, everything else as JSON. */
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
    const message =
      "the rendered payload is nested too deeply or too large to send; use single fields instead of whole objects";
    throw new WebhookError([errorAt("/payload", "too_large", message)], name);
  }
}

function keyFor(origin: string, apiKeys: readonly ApiKey[]): string | null {
  for (const entry of apiKeys) {
    const url = URL.canParse(entry.origin) ? new URL(entry.origin) : null;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") {
      throw new UsageError(
        "api_key_origin",
        "an API key needs the http:// or https:// address it is for",
      );
    }
    if (url.origin !== origin) continue;
    if (!/^[\u0021-\u007e]+$/.test(entry.key)) {
      throw new UsageError(
        "api_key",
        `the API key for ${origin} is empty or contains characters not allowed in a header (white space, line breaks, non-ASCII)`,
      );
    }
    return entry.key;
  }
  return null;
}

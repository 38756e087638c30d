import { randomUUID } from "node:crypto";
import { sendOnce } from "../../client/api/http/send-once.js";
import { TransportError } from "../../client/api/http/transport-error.js";
import {
  authenticationSteps,
  saysAuthenticationFailed,
} from "../../client/api/service-description.js";
import { againAfter } from "../../client/api/status-fault.js";
import { retryPlan } from "../../client/lookup/attempt/retry.js";
import type { Clock } from "../../core/clock.js";
import { UsageError } from "../../core/errors.js";
import type { ExclusionList } from "../../core/exclusions/exclusion-list.js";
import type { JsonObject } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { jsonText } from "../../core/json-members.js";
import { CredentialMask } from "../../core/redaction.js";
import { quoted } from "../../core/wording/printable.js";
import { addressProblems, type Webhook, webhookUrl } from "./webhook.js";
import {
  errorAt,
  pointerOf,
  type Problem,
  renderPayload,
  throwErrors,
  valuesIn,
} from "./render.js";

/** An API key and the origin it is for. */
export interface ApiKey {
  /** Scheme, host and port that the key is sent to. The rest of a longer address is ignored. */
  readonly origin: string;
  /** The key, sent as `Authorization: Bearer <key>`. */
  readonly key: string;
}

interface PrepareOptions {
  /** Key of the case management instance. @default none: the call has no Authorization header */
  readonly apiKey?: ApiKey | null | undefined;
  /** A payload that contains an item on one of these lists is not sent. @default none */
  readonly exclusions?: readonly ExclusionList[] | undefined;
}

/** A call for display, with secrets replaced by `[hidden]`. */
interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  /** Header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent; null for none. Contains subscriber data. */
  readonly body: string | null;
}

/**
 * Renders a webhook for a case, without sending it.
 *
 * @throws WebhookError if the payload or the address is invalid
 * @throws UsageError if an API key does not fit in a header
 */
export function prepareCall(
  webhook: Webhook,
  context: JsonObject,
  { apiKey: given = null, exclusions = [] }: PrepareOptions = {},
) {
  const rendering = renderPayload(webhook.payload, context);
  const excluded = excludedValues(rendering.value, exclusions);
  throwErrors([...addressProblems(webhook), ...rendering.problems, ...excluded], webhook.name);
  const url = webhookUrl(webhook);
  const [body, contentType] = encode(rendering.value);
  const apiKey = keyFor(url, given);
  const headers = {
    accept: "*/*",
    "user-agent": "repute",
    // The same in every attempt, so that the receiver can tell a retry from a new call.
    "idempotency-key": randomUUID(),
    ...(contentType !== null && { "content-type": contentType }),
  };
  const shownHeaders = apiKey === null ? headers : { ...headers, authorization: "Bearer [hidden]" };
  const { method } = webhook;
  const shown: WebhookRequest = { method, url: shownUrl(url), headers: shownHeaders, body };
  return { url, headers, apiKey, shown };
}

type PreparedCall = ReturnType<typeof prepareCall>;

/** The URL for display, with the values of parameters that look like secrets hidden. */
function shownUrl({ href }: URL): string {
  return href.replaceAll(/(?<=[?&])([^=&]*)=[^&]*/g, (parameter, name: string) => {
    const [decoded = ""] = new URLSearchParams(name).keys();
    return secretName.test(decoded) ? `${name}=[hidden]` : parameter;
  });
}

const secretName =
  /^(?:.*[-_.])?(?:api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|secret|password|passwd|pwd|signature|sig)$/i;

/** A payload as a body: a string as text, null as none, everything else as JSON. */
function encode(payload: unknown): [body: string | null, contentType: string | null] {
  if (payload === null || payload === undefined) return [null, null];
  return typeof payload === "string"
    ? [payload, "text/plain; charset=utf-8"]
    : [jsonText(payload), "application/json"];
}

/** The key, if it is for this origin. @throws UsageError `api_key` */
function keyFor(url: URL, apiKey: ApiKey | null): string | null {
  if (apiKey === null || new URL(apiKey.origin).origin !== url.origin) return null;
  if (/^[\u0021-\u007e]+$/.test(apiKey.key)) return apiKey.key;
  throw new UsageError(
    "api_key",
    `the API key for ${url.origin} is empty or contains characters not allowed in a header (white space, line breaks, non-ASCII)`,
  );
}

/** An error for each payload value that contains an excluded item, or whose member name does. */
function excludedValues(payload: unknown, lists: readonly ExclusionList[]): Problem[] {
  if (lists.length === 0) return [];
  return [...valuesIn(payload, ["payload"])].flatMap(({ path, value }) => {
    const texts = [path.length > 1 ? path.at(-1) : null, value].filter(
      (text) => typeof text === "string",
    );
    const list = texts.map((text) => listOfText(text, lists)).find((found) => found !== undefined);
    if (list === undefined) return [];
    const message = `contains an item on the exclusion list ${list.path}; nothing was sent`;
    return [errorAt(pointerOf(path), "excluded", message)];
  });
}

/** The first list that contains the text or a word in it. */
function listOfText(text: string, lists: readonly ExclusionList[]): ExclusionList | undefined {
  const words = text.split(betweenWords);
  const labelled = words.map((word) => word.slice(word.indexOf(":") + 1));
  for (const word of new Set([text, ...words, ...labelled])) {
    // Without a dot, colon, @ or hash, a word in a text is most likely prose.
    if (word !== text && !/[.:@]|[\dA-Fa-f]{32}/.test(word)) continue;
    const item = asItem(word.replace(/[.!?]+$|(?<!:):$/, ""));
    const list = item && lists.find((each) => each.has(item));
    if (list) return list;
  }
  return undefined;
}

const betweenWords = /[\s"'`<>()[\]{}|=,;]+/u;

/** A word as an item. Accepts internal host names too: lists may have them. */
function asItem(word: string): Item | null {
  const { item } = recogniseItem(word);
  if (item !== null) return item;
  const url = word.includes("://") && URL.canParse(word) ? new URL(word) : null;
  if (url !== null) return { kind: "url", value: `http://${url.hostname}/` };
  const value = word.toLowerCase();
  if (/^[^@]+@[\w.-]+$/.test(word)) return { kind: "email", value };
  return /^[\w.-]+$/.test(word) ? { kind: "domain", value } : null;
}

interface SendOptions extends PrepareOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of retries. @default 5 */
  readonly retries?: number;
  /** Timeout for one attempt in milliseconds. @default 30000 */
  readonly timeout?: number;
  /** Returns a number from 0 to below 1, for the jitter of the backoff. @default Math.random */
  readonly random?: () => number;
}

export interface WebhookDelivery {
  /**
   * - `delivered`: answered with 2xx, and not with `Authentication Failed`.
   * - `refused`: answered in a way that another attempt would not change.
   * - `failed`: no final answer after all retries.
   */
  readonly outcome: "delivered" | "refused" | "failed";
  /** HTTP status of the last answer; null if the last attempt had none. */
  readonly status: number | null;
  /** Number of attempts, at least 1. */
  readonly attempts: number;
  /** The `Idempotency-Key` of every attempt. */
  readonly idempotencyKey: string;
  readonly request: WebhookRequest;
  /** The start of the last answer's body, at most 64 KiB; null without an answer. */
  readonly response: { readonly body: string } | null;
  /** Why it was not delivered; null if it was. */
  readonly error: {
    /** `authentication_failed`, `redirect`, or `http_` and the status. */
    readonly code: string;
    /** What happened and what to do. Contains no secrets. */
    readonly message: string;
  } | null;
}

/** Longest delay that a receiver can ask for, in milliseconds. Beyond it, the call fails. */
const maxPauseMs = 300_000;

/**
 * Renders a webhook for a case and calls its endpoint. Retries network errors and 5xx with
 * full-jitter backoff and obeys `Retry-After`; every other answer is final, including 429. Faults of
 * the receiver are reported in the result, never thrown.
 *
 * @throws WebhookError before sending, if the payload or the address is invalid
 * @throws UsageError before sending, if a key does not fit in a header
 * @throws the signal's reason if aborted
 */
export async function sendWebhook(
  webhook: Webhook,
  context: JsonObject,
  options: SendOptions,
): Promise<WebhookDelivery> {
  const { clock, retries = 5, timeout = 30_000, random } = options;
  const signal = options.signal ?? new AbortController().signal;
  const call = prepareCall(webhook, context, options);
  const waitAfter = retryPlan({ retries, partialRetries: 0, clock, ...(random && { random }) });
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await attemptCall(call, timeout, signal).catch((error: unknown) => {
      if (error instanceof TransportError) return error;
      throw error;
    });
    // A call has side effects, so retry only what the receiver has not processed.
    const again =
      "again" in outcome
        ? outcome.again
        : outcome.status >= 500
          ? againAfter(outcome, clock)
          : null;
    if (again === null) return delivery(call, outcome, attempts, "");
    const wait = waitAfter(again);
    if (wait === null || wait > maxPauseMs) {
      const minutes = Math.ceil((again.afterMs ?? wait ?? 0) / 60_000);
      const wish = wait === null ? "" : `; the receiver asks to wait ${minutes} minutes`;
      const times = attempts === 1 ? "once" : `${attempts} times`;
      return delivery(call, outcome, attempts, ` (tried ${times}${wish})`);
    }
    await clock.sleep(wait, signal);
  }
}

/** Maximum bytes per character of a key, with JSON escapes such as `\u006b`. */
const maxBytesPerChar = 6;

/** Maximum size of a kept body. It only serves to explain failures. */
const keptBodyBytes = 64 * 1024;

/** Calls the receiver. Its answer is safe to display: an echoed API key is masked. */
async function attemptCall(
  { url, headers, apiKey, shown: { method, body } }: PreparedCall,
  timeoutMs: number,
  signal: AbortSignal,
) {
  // Read past the cut, so that a key that straddles it is found and masked.
  const keptBytes = keptBodyBytes + maxBytesPerChar * (apiKey?.length ?? 0);
  const authorization = apiKey === null ? null : `Bearer ${apiKey}`;
  const request = { url, method, headers, body, authorization, timeoutMs, keptBytes };
  const answer = await sendOnce(request, signal);
  const mask = apiKey === null ? null : new CredentialMask(apiKey);
  const location = [answer.headers["location"]].flat()[0] ?? null;
  return {
    status: answer.status,
    headers: answer.headers,
    location: location === null ? null : (mask?.inText(location) ?? location),
    body: (mask?.inErrorBody(answer.body) ?? answer.body).toString("utf8").slice(0, keptBodyBytes),
  };
}

type Reply = Awaited<ReturnType<typeof attemptCall>>;

/** @param tries why retrying stopped; "" if the outcome is final */
function delivery(
  call: PreparedCall,
  outcome: Reply | TransportError,
  attempts: number,
  tries: string,
): WebhookDelivery {
  const idempotencyKey = call.headers["idempotency-key"];
  const common = { attempts, idempotencyKey, request: call.shown };
  const what = `${call.shown.method} ${call.shown.url}`;
  if (outcome instanceof TransportError) {
    const error = { code: outcome.code, message: `${what}: ${outcome.message}${tries}` };
    return { ...common, outcome: "failed", status: null, response: null, error };
  }
  const { status, body } = outcome;
  const answered = { ...common, status, response: { body } };
  const isRefused = isAuthenticationFailure(outcome, call);
  if (status >= 200 && status < 300 && !isRefused) {
    return { ...answered, outcome: "delivered", error: null };
  }
  const [code, why] = isRefused
    ? ["authentication_failed", `: ${authentication(call)}${said(body)}`]
    : explainRefusal(outcome);
  const error = { code, message: `${what} was answered with ${status}${why}${tries}` };
  return { ...answered, outcome: tries === "" ? "refused" : "failed", error };
}

function explainRefusal({ status, location, body }: Reply): [code: string, why: string] {
  if (status >= 300 && status < 400) {
    const target = location === null ? "" : ` to ${quoted(location.split(/[?#]/, 1)[0]!, 200)}`;
    const advice = "Redirects are not followed: set endpoint and path to the final address.";
    return ["redirect", `, a redirect${target}. ${advice}`];
  }
  const advice = adviceFor[status] ?? (status >= 500 ? failing : notAccepted);
  return [`http_${status}`, `: ${advice}${said(body)}`];
}

function said(body: string): string {
  return body.trim() === "" ? "" : ` The answer says: ${quoted(body.trim(), 300)}`;
}

/**
 * True if the receiver refused the credentials: 401, 403, or a body that says so with any status.
 * Ignores the phrase in a success if the request contained it too, since receivers may echo.
 */
function isAuthenticationFailure({ status, body }: Reply, call: PreparedCall): boolean {
  if (status === 401 || status === 403) return true;
  if (!saysAuthenticationFailed(body)) return false;
  return status < 200 || status > 299 || !saysAuthenticationFailed(call.shown.body ?? "");
}

function authentication({ url, apiKey }: PreparedCall): string {
  const sent =
    apiKey === null
      ? `Authentication Failed, and no API key is configured for ${url.origin}.`
      : `Authentication Failed: the API key configured for ${url.origin} was sent as Bearer and refused.`;
  return `${sent} ${authenticationSteps} Set the key of the case management instance in REPUTE_CASE_API_KEY if the webhook calls that instance.`;
}

const adviceFor: Readonly<Record<number, string>> = {
  400: "the receiver did not understand the payload; compare it with what it expects.",
  404: "nothing exists at this address; check endpoint and path.",
  429: "the receiver is getting too many requests; send it again later.",
};

const failing = "the receiver failed; send it again later.";
const notAccepted = "the receiver did not accept the call, and repeating it would not help.";

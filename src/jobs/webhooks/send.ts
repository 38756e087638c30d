import { authenticationSteps, saysAuthenticationFailed } from "../../client/api/options.js";
import type { Answer } from "../../client/api/types.js";
import type { Clock } from "../../core/clock.js";
import type { JsonObject } from "../../core/finding.js";
import { sendOnce } from "../../client/api/http/send-once.js";
import { TransportError } from "../../client/api/http/transport-error.js";
import { againAfter } from "../../client/api/status-fault.js";
import { CredentialMask } from "../../core/redaction.js";
import { RetryPlan } from "../../client/lookup/attempt/retry.js";
import type { Webhook } from "./configuration.js";
import {
  prepareCall,
  type PreparedCall,
  type PrepareRules,
  type WebhookRequest,
} from "./prepare.js";
import { quoted } from "../../core/wording/printable.js";

interface SendOptions extends PrepareRules {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of retries. @default 5 */
  readonly retries?: number;
  /** Timeout for one attempt in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
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
  readonly response: { readonly body: string; readonly truncated: boolean } | null;
  /** Why it was not delivered; null if it was. */
  readonly error: {
    /** `authentication_failed`, `redirect`, or `http_` and the status. */
    readonly code: string;
    /** What happened and what to do. Contains no secrets. */
    readonly message: string;
  } | null;
}

/** A receiver's answer, safe to display. */
interface Reply {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly location: string | null;
  /** The start of the body. An echoed API key is masked. */
  readonly body: string;
  /** True if the body was longer or broke off. */
  readonly truncated: boolean;
}

/** Longest delay that a receiver can ask for, in milliseconds. Beyond it, the call fails. */
const maxPauseMs = 300_000;

/**
 * Renders a webhook for a case and calls its endpoint. Retries network errors and 5xx with
 * full-jitter backoff and obeys `Retry-After`; every other answer is final, including 429. Nothing
 * that the receiver does makes it throw.
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
  const { clock, retries = 5, timeoutMs = 30_000, random } = options;
  const signal = options.signal ?? new AbortController().signal;
  const call = prepareCall(webhook, context, options);
  const plan = new RetryPlan({ retries, partialRetries: 0, clock, ...(random && { random }) });
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await attemptCall(call, timeoutMs, signal).catch((error: unknown) => {
      if (error instanceof TransportError) return error;
      throw error;
    });
    // A call has side effects, so only what the receiver has not processed is retried.
    const isFault = outcome instanceof TransportError;
    const mayPass = !isFault && outcome.status >= 500;
    const again = isFault ? outcome.again : mayPass ? againAfter(outcome, clock) : null;
    if (again === null) return delivery(call, outcome, attempts, null);
    const wait = plan.waitAfter(again);
    if (wait === null || wait > maxPauseMs) {
      const minutes = Math.ceil((again.afterMs ?? wait ?? 0) / 60_000);
      const wish = wait === null ? "" : `; the receiver asks to wait ${minutes} minutes`;
      return delivery(call, outcome, attempts, `tried ${times(attempts)}${wish}`);
    }
    await clock.sleep(wait, signal);
  }
}

/** Maximum bytes per character of a key, with JSON escapes such as `\u006b`. */
const maxBytesPerChar = 6;

/** Maximum size of a kept body. It only serves to explain failures. */
const keptBodyBytes = 64 * 1024;

async function attemptCall(
  { url, headers, body, apiKey, shown: { method } }: PreparedCall,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Reply> {
  // Read far enough past the cut that a key across it is found and masked.
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
    truncated: answer.truncated || answer.body.length > keptBodyBytes,
  };
}

/** @param gaveUp why a fault that may pass is not retried any more; null otherwise */
function delivery(
  call: PreparedCall,
  outcome: Reply | TransportError,
  attempts: number,
  gaveUp: string | null,
): WebhookDelivery {
  const common = { attempts, idempotencyKey: call.idempotencyKey, request: call.shown };
  const tries = gaveUp === null ? "" : ` (${gaveUp})`;
  const what = `${call.shown.method} ${call.shown.url}`;
  if (outcome instanceof TransportError) {
    const error = { code: outcome.code, message: `${what}: ${outcome.message}${tries}` };
    return { ...common, outcome: "failed", status: null, response: null, error };
  }
  const { status, body, truncated } = outcome;
  const answered = { ...common, status, response: { body, truncated } };
  const isRefused = isAuthenticationFailure(outcome, call);
  if (status >= 200 && status < 300 && !isRefused) {
    return { ...answered, outcome: "delivered", error: null };
  }
  const [code, why] = isRefused
    ? ["authentication_failed", `: ${authentication(call)}${said(body)}`]
    : explainRefusal(outcome);
  const error = { code, message: `${what} was answered with ${status}${why}${tries}` };
  return { ...answered, outcome: gaveUp === null ? "refused" : "failed", error };
}

function times(attempts: number): string {
  return attempts === 1 ? "once" : `${attempts} times`;
}

function explainRefusal({ status, location, body }: Reply): [code: string, why: string] {
  if (status >= 300 && status < 400) {
    const target = location === null ? "" : ` to ${quoted(location.split(/[?#]/, 1)[0]!, 200)}`;
    const advice = "Redirects are not followed: write the final address into endpoint and path.";
    return ["redirect", `, a redirect${target}. ${advice}`];
  }
  const advice = adviceFor.get(status) ?? (status >= 500 ? failing : notAccepted);
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
  return status < 200 || status > 299 || !saysAuthenticationFailed(call.body ?? "");
}

function authentication({ url, apiKey }: PreparedCall): string {
  const sent =
    apiKey === null
      ? `Authentication Failed, and no API key is configured for ${url.origin}.`
      : `Authentication Failed: the API key configured for ${url.origin} was sent as Bearer and refused.`;
  return `${sent} ${authenticationSteps} Set the key of the case management instance in REPUTE_CASE_API_KEY, and keys of other endpoints with --endpoint-keys-file.`;
}

const adviceFor: ReadonlyMap<number, string> = new Map([
  [400, "the receiver did not understand the payload; compare it with what it expects."],
  [404, "nothing exists at this address; check endpoint and path."],
  [429, "the receiver gets too many requests; send it again later."],
]);

const failing = "the receiver failed; send it again later.";
const notAccepted = "the receiver did not accept the call, and repeating it would not help.";

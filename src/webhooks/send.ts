import type { Dispatcher } from "undici";
import type { Clock } from "../core/clock.js";
import type { JsonObject } from "../core/finding.js";
import { attemptCall, type Attempt } from "./attempt.js";
import type { Webhook } from "./configuration.js";
import { explain, isAuthenticationFailure, type Refusal } from "./explain.js";
import { longestPauseMs, pauseMs } from "./pause.js";
import {
  prepareCall,
  type PreparedCall,
  type PrepareOptions,
  type WebhookRequest,
} from "./prepare.js";

export interface SendOptions extends PrepareOptions {
  /** Makes the connections. */
  readonly dispatcher: Dispatcher;
  /** Measures the pauses between attempts. */
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** How often the call is tried again. @default 5 */
  readonly retries?: number;
  /** Longest time that one attempt may take, in milliseconds. @default 30000 */
  readonly timeoutMs?: number;
  /** A number from 0 to below 1, for the backoff's jitter. @default Math.random */
  readonly random?: () => number;
}

/** What a call came to. */
export interface WebhookDelivery {
  /**
   * - `delivered`: answered with 2xx, and not with `Authentication Failed`.
   * - `refused`: answered with something that another attempt would not change.
   * - `failed`: no such answer, however often it was tried.
   */
  readonly outcome: "delivered" | "refused" | "failed";
  /** HTTP status of the last answer; null when the last attempt had none. */
  readonly status: number | null;
  /** Calls made, at least 1. */
  readonly attempts: number;
  /** What every one of them bore as `Idempotency-Key`. */
  readonly idempotencyKey: string;
  readonly request: WebhookRequest;
  /** The beginning of the last answer's body, 64 KiB at most; null without an answer. */
  readonly response: { readonly body: string; readonly truncated: boolean } | null;
  /** Why it was not delivered, or null when it was. */
  readonly error: Refusal | null;
}

/**
 * Renders a webhook for a case and calls its endpoint (behaviour: Webhooks). Network errors and
 * 5xx are tried again with full-jitter backoff, `Retry-After` obeyed; every other answer is final,
 * 429 included. What the receiver does is data; nothing of it throws.
 *
 * @throws WebhookError before anything is sent, when payload or address are at fault
 * @throws UsageError before anything is sent, when a key cannot stand in a header
 * @throws the signal's reason when it aborts
 */
export async function sendWebhook(
  webhook: Webhook,
  context: JsonObject,
  options: SendOptions,
): Promise<WebhookDelivery> {
  const { dispatcher, clock, signal = null, retries = 5, timeoutMs = 30_000 } = options;
  const { random = Math.random } = options;
  const call = prepareCall(webhook, context, options);
  for (let attempts = 1; ; attempts += 1) {
    const attempt = await attemptCall(call, { dispatcher, timeoutMs, signal });
    if (!worthRetrying(attempt)) return delivery(call, attempt, attempts, null);
    if (attempts > retries) return delivery(call, attempt, attempts, `tried ${times(attempts)}`);
    const retryAfter = attempt.kind === "answer" ? attempt.retryAfter : null;
    const pause = pauseMs({ attempts, retryAfter, now: clock.now(), random });
    if (pause > longestPauseMs) {
      const wish = `the receiver asks to be left alone for ${Math.ceil(pause / 60_000)} minutes`;
      return delivery(call, attempt, attempts, `tried ${times(attempts)}; ${wish}`);
    }
    await clock.sleep(pause, signal ?? undefined);
  }
}

function worthRetrying(attempt: Attempt): boolean {
  if (attempt.kind === "fault") return attempt.passing;
  return attempt.status >= 500;
}

/** @param gaveUp why it was not tried again although it might have helped; null otherwise */
function delivery(
  call: PreparedCall,
  attempt: Attempt,
  attempts: number,
  gaveUp: string | null,
): WebhookDelivery {
  const common = { attempts, idempotencyKey: call.idempotencyKey, request: call.shown };
  const tries = gaveUp === null ? "" : ` (${gaveUp})`;
  if (attempt.kind === "fault") {
    const message = `${call.shown.method} ${call.shown.url}: ${attempt.message}${tries}`;
    const error = { code: attempt.code, message };
    return { ...common, outcome: "failed", status: null, response: null, error };
  }
  const { status, body, truncated } = attempt;
  const answered = { ...common, status, response: { body, truncated } };
  const isSuccess = status >= 200 && status < 300 && !isAuthenticationFailure(attempt, call);
  if (isSuccess) return { ...answered, outcome: "delivered", error: null };
  const refusal = explain(attempt, call);
  const error = { code: refusal.code, message: refusal.message + tries };
  return { ...answered, outcome: gaveUp === null ? "refused" : "failed", error };
}

function times(attempts: number): string {
  return attempts === 1 ? "once" : `${attempts} times`;
}

import type { Dispatcher } from "undici";
import type { Clock } from "../core/clock.js";
import type { JsonObject } from "../core/finding.js";
import { TransportError } from "../api/http/transport-error.js";
import { againAfter } from "../api/status-fault.js";
import type { Again } from "../core/attempt.js";
import { RetryPlan } from "../lookup/attempt/retry.js";
import { attemptCall, type Reply } from "./attempt.js";
import type { Webhook } from "./configuration.js";
import { explain, isAuthenticationFailure, type Refusal } from "./explain.js";
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

/** The result of a call. */
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

/** Longest wait that a receiver can ask for, in milliseconds; beyond it the call is given up. */
const longestPauseMs = 300_000;

/**
 * Renders a webhook for a case and calls its endpoint. Network errors and 5xx are tried again with
 * full-jitter backoff, `Retry-After` obeyed; every other answer is final, 429 included. What the
 * receiver does is data; nothing of it throws.
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
  const { dispatcher, clock, retries = 5, timeoutMs = 30_000, random } = options;
  const signal = options.signal ?? new AbortController().signal;
  const call = prepareCall(webhook, context, options);
  const plan = new RetryPlan({ retries, partialRetries: 0, clock, ...(random && { random }) });
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await attemptCall(call, dispatcher, timeoutMs, signal).catch(faultOnly);
    const again = againFor(outcome, clock);
    if (again === null) return delivery(call, outcome, attempts, null);
    const wait = plan.waitAfter(again);
    if (wait === null) return delivery(call, outcome, attempts, `tried ${times(attempts)}`);
    if (wait > longestPauseMs) {
      const minutes = Math.ceil((again.afterMs ?? wait) / 60_000);
      const wish = `the receiver asks to be left alone for ${minutes} minutes`;
      return delivery(call, outcome, attempts, `tried ${times(attempts)}; ${wish}`);
    }
    await clock.sleep(wait, signal);
  }
}

function faultOnly(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  throw error;
}

/** A call changes something: only what the receiver did not take on is tried again. */
function againFor(outcome: Reply | TransportError, clock: Clock): Again | null {
  if (outcome instanceof TransportError) {
    return outcome.passing ? { policy: "transient", afterMs: null } : null;
  }
  return outcome.status >= 500 ? againAfter(outcome, clock) : null;
}

/** @param gaveUp why it was not tried again although it might have helped; null otherwise */
function delivery(
  call: PreparedCall,
  outcome: Reply | TransportError,
  attempts: number,
  gaveUp: string | null,
): WebhookDelivery {
  const common = { attempts, idempotencyKey: call.idempotencyKey, request: call.shown };
  const tries = gaveUp === null ? "" : ` (${gaveUp})`;
  if (outcome instanceof TransportError) {
    const message = `${call.shown.method} ${call.shown.url}: ${outcome.message}${tries}`;
    const error = { code: outcome.code, message };
    return { ...common, outcome: "failed", status: null, response: null, error };
  }
  const { status, body, truncated } = outcome;
  const answered = { ...common, status, response: { body, truncated } };
  const isSuccess = status >= 200 && status < 300 && !isAuthenticationFailure(outcome, call);
  if (isSuccess) return { ...answered, outcome: "delivered", error: null };
  const refusal = explain(outcome, call);
  const error = { code: refusal.code, message: refusal.message + tries };
  return { ...answered, outcome: gaveUp === null ? "refused" : "failed", error };
}

function times(attempts: number): string {
  return attempts === 1 ? "once" : `${attempts} times`;
}

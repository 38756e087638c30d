import { setMaxListeners } from "node:events";
import type { FastifyReply } from "fastify";
import { madeUpHeaders } from "../client/api/made-up.js";
import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";
import { Faults, type ServedOutcome } from "./faults.js";
import type { ServiceSettings } from "./options.js";
import { seededHash } from "./seeded-hash.js";
import { plain, type RouteAnswer, type ServedAnswer } from "./served-answer.js";
import { type EndpointName, isKeyed, type RequestStats } from "./stats.js";

/** Called when a request outside `/_local/` arrives; `subject` is its item or its path. */
export type OnRequest = (endpoint: EndpointName, subject: string) => void;

/** Sends the answers of routes: counts each request, applies faults and latency, and writes. */
export class Responder {
  readonly #settings: ServiceSettings;
  readonly #stats: RequestStats;
  readonly #clock: Clock;
  readonly #onRequest: OnRequest | undefined;
  readonly #faults: Faults;
  readonly #rateLimit: RateLimit;
  readonly #closing = new AbortController();

  constructor(settings: ServiceSettings, stats: RequestStats, clock: Clock, onRequest?: OnRequest) {
    this.#settings = settings;
    this.#stats = stats;
    this.#clock = clock;
    this.#onRequest = onRequest;
    this.#faults = new Faults(settings, settings.seed);
    this.#rateLimit = settings.rateLimit ? rateLimit(settings.rateLimit, clock) : () => 0;
    setMaxListeners(0, this.#closing.signal);
  }

  answer(reply: FastifyReply, endpoint: EndpointName, subject: string, answer: RouteAnswer): void {
    this.#stats.arrived(endpoint);
    this.#onRequest?.(endpoint, subject);
    reply.hijack();
    const { apiKey } = this.#settings;
    const isRefused =
      apiKey !== undefined && isKeyed(endpoint) && reply.request.headers["x-api-key"] !== apiKey;
    if (isRefused) return this.#end(reply, endpoint, plain(403, { message: "Forbidden" }));
    const waitMs = this.#rateLimit();
    if (waitMs > 0) {
      this.#stats.fault("rate-limit");
      return this.#end(reply, endpoint, tooMany(waitMs));
    }
    const { fault, outcome } = this.#faults.answer(endpoint, subject, answer);
    if (fault !== "none") this.#stats.fault(fault);
    const delayMs = this.#latency(endpoint, subject);
    if (delayMs > 0) this.#later(reply, endpoint, outcome, delayMs);
    else this.#end(reply, endpoint, outcome);
  }

  /** Refuses a request that no endpoint answers, without faults or latency. */
  refuse(reply: FastifyReply, answer: ServedAnswer): void {
    this.#stats.arrived("unknown");
    reply.hijack();
    this.#end(reply, "unknown", answer);
  }

  /** Sends delayed answers at once, and makes each connection close with its answer. */
  close(): void {
    this.#closing.abort();
  }

  #latency(endpoint: EndpointName, subject: string): number {
    const { latency, seed } = this.#settings;
    const { minMs, maxMs } = latency;
    const share = seededHash(seed, subject, endpoint.length) / 2 ** 32;
    return minMs + share * (maxMs - minMs);
  }

  #later(
    reply: FastifyReply,
    endpoint: EndpointName,
    outcome: ServedOutcome,
    delayMs: number,
  ): void {
    let isWaiting = true;
    const once = (end: () => void) => () => {
      if (!isWaiting) return;
      isWaiting = false;
      end();
    };
    const write = once(() => this.#end(reply, endpoint, outcome));
    const abort = once(() => this.#stats.ended(endpoint, "aborted"));
    reply.raw.once("close", abort);
    this.#clock.sleep(delayMs, this.#closing.signal).then(write, write);
  }

  #end(reply: FastifyReply, endpoint: EndpointName, outcome: ServedOutcome): void {
    const { raw } = reply;
    if (outcome === "reset") {
      this.#stats.ended(endpoint, "reset");
      raw.socket?.resetAndDestroy();
      return;
    }
    this.#stats.ended(endpoint, String(outcome.status));
    const { status, body, contentType, headers } = outcome;
    raw.writeHead(status, {
      ...headers,
      ...(contentType === null ? {} : { "content-type": contentType }),
      [madeUpHeaders[this.#settings.synthetic === undefined ? "sample" : "invented"]]: "true",
      ...(this.#closing.signal.aborted ? { connection: "close" } : {}),
      "content-length": Buffer.byteLength(body),
    });
    raw.end(body);
  }
}

function tooMany(waitMs: number): ServedAnswer {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const answer = plain(429, { message: "Too Many Requests" });
  return { ...answer, headers: { "retry-after": String(seconds) } };
}

/** Takes one request. Returns 0 if it is admitted, else the milliseconds until the next may be. */
type RateLimit = () => number;

/** A token bucket that holds the requests of one window and fills evenly over the window. */
function rateLimit(rate: Rate, clock: Clock): RateLimit {
  const perMs = rate.count / rate.perMs;
  let tokens = rate.count;
  let filledAt = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(rate.count, tokens + (now - filledAt) * perMs);
    filledAt = now;
    if (tokens < 1) return (1 - tokens) / perMs;
    tokens -= 1;
    return 0;
  };
}

import { syntheticHeader } from "../api/endpoints.js";
import { setMaxListeners } from "node:events";
import type { FastifyReply } from "fastify";
import type { Clock } from "../core/clock.js";
import { plain, type ServedAnswer } from "./served-answer.js";
import { type FaultDraw, type Faults, malformedAnswer, unavailableAnswer } from "./faults.js";
import type { Latency } from "./options.js";
import { seededHash } from "./seeded-hash.js";
import { keyedEndpoints, type EndpointName, type RequestStats } from "./stats.js";
import type { Rate } from "../core/options.js";

interface RouteAnswer {
  readonly full: () => ServedAnswer;
  /** The answer with part of its data missing; null if the API has no partial answer here. */
  readonly partial: ((dice: number) => ServedAnswer) | null;
}

/** An answer, or a deliberately broken connection. */
type ServedOutcome = ServedAnswer | "reset";

interface ResponderOptions {
  readonly stats: RequestStats;
  readonly faults: Faults;
  readonly rateLimit: RateLimit | null;
  readonly latency: Latency;
  readonly seed: number;
  readonly clock: Clock;
  /** Key that the threat intelligence endpoints require as `x-api-key`; null requires none. */
  readonly apiKey: string | null;
  /** The answers are invented; a header of each says so. */
  readonly synthetic: boolean;
  readonly onRequest: ((endpoint: EndpointName, subject: string) => void) | null;
}

/** Sends the answers of routes: counts each request, applies faults and latency, and writes. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #closing = new AbortController();

  constructor(options: ResponderOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal);
  }

  /** Answers one request. `subject` is its item, tag or case. */
  answer(reply: FastifyReply, endpoint: EndpointName, subject: string, answer: RouteAnswer): void {
    const { stats, onRequest, apiKey, rateLimit, faults } = this.#options;
    stats.arrived(endpoint);
    onRequest?.(endpoint, subject);
    reply.hijack();
    const isRefused =
      apiKey !== null &&
      keyedEndpoints.has(endpoint) &&
      reply.request.headers["x-api-key"] !== apiKey;
    if (isRefused) return this.#end(reply, endpoint, plain(403, { message: "Forbidden" }));
    const waitMs = rateLimit?.() ?? 0;
    if (waitMs > 0) {
      stats.fault("rate-limit");
      return this.#end(reply, endpoint, tooMany(waitMs));
    }
    const draw = faults.draw(endpoint, subject, answer.partial !== null);
    if (draw.kind !== "none") stats.fault(draw.kind);
    const outcome = outcomeOf(draw, answer);
    const delayMs = this.#latency(endpoint, subject);
    if (delayMs > 0) this.#later(reply, endpoint, outcome, delayMs);
    else this.#end(reply, endpoint, outcome);
  }

  /** Answers one request unchanged, without faults or latency. */
  say(reply: FastifyReply, endpoint: EndpointName, answer: ServedAnswer): void {
    this.#options.stats.arrived(endpoint);
    reply.hijack();
    this.#end(reply, endpoint, answer);
  }

  /** Sends delayed answers at once, and makes each connection close with its answer. */
  close(): void {
    this.#closing.abort();
  }

  #latency(endpoint: EndpointName, subject: string): number {
    const { minMs, maxMs } = this.#options.latency;
    if (minMs === maxMs) return minMs;
    const share = seededHash(this.#options.seed, subject, endpoint.length) / 2 ** 32;
    return minMs + share * (maxMs - minMs);
  }

  #later(
    reply: FastifyReply,
    endpoint: EndpointName,
    outcome: ServedOutcome,
    delayMs: number,
  ): void {
    let ended = false;
    const end = (how: () => void) => () => {
      if (ended) return;
      ended = true;
      how();
    };
    const write = end(() => this.#end(reply, endpoint, outcome));
    reply.raw.once(
      "close",
      end(() => this.#options.stats.ended(endpoint, "aborted")),
    );
    this.#options.clock.sleep(delayMs, this.#closing.signal).then(write, write);
  }

  #end(reply: FastifyReply, endpoint: EndpointName, outcome: ServedOutcome): void {
    const { raw } = reply;
    if (outcome === "reset") {
      this.#options.stats.ended(endpoint, "reset");
      raw.socket?.resetAndDestroy();
      return;
    }
    this.#options.stats.ended(endpoint, String(outcome.status));
    if (this.#options.synthetic) raw.setHeader(syntheticHeader, "true");
    write(raw, outcome, this.#closing.signal.aborted);
  }
}

function outcomeOf({ kind, dice }: FaultDraw, { full, partial }: RouteAnswer): ServedOutcome {
  switch (kind) {
    case "reset":
      return "reset";
    case "unavailable":
      return unavailableAnswer(dice);
    case "malformed":
      return malformedAnswer(full(), dice);
    case "partial":
      return partial ? partial(dice) : full();
    case "none":
      return full();
  }
}

/** Writes an answer. `last` closes the connection after it. */
function write(raw: FastifyReply["raw"], answer: ServedAnswer, last: boolean): void {
  const headers: Record<string, string | number> = {
    ...answer.headers,
    "content-length": Buffer.byteLength(answer.body),
  };
  if (answer.contentType !== null) headers["content-type"] = answer.contentType;
  if (last) headers["connection"] = "close";
  raw.writeHead(answer.status, headers);
  raw.end(answer.body);
}

function tooMany(waitMs: number): ServedAnswer {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const answer = plain(429, { message: "Too Many Requests" });
  return { ...answer, headers: { "retry-after": String(seconds) } };
}

/** Takes one request. Returns 0 if it is admitted, else the milliseconds until the next may be. */
export type RateLimit = () => number;

/** A token bucket that holds the requests of one window and fills evenly over the window. */
export function rateLimit(rate: Rate, clock: Clock): RateLimit {
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

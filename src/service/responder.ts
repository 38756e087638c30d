import { setMaxListeners } from "node:events";
import type { FastifyReply } from "fastify";
import { madeUpHeaders } from "../client/api/service-description.js";
import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";
import type { ServiceSettings } from "./options.js";
import { seededHash } from "../core/seeded-hash.js";
import { UsageError } from "../core/errors.js";
import { type CallName, calls } from "../client/api/calls.js";
import type { LookupEndpoint } from "../core/finding.js";

export interface ServedAnswer {
  readonly status: number;
  /** Empty for an answer without a body. */
  readonly body: string;
  readonly contentType: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteAnswer {
  readonly full: () => ServedAnswer;
  /** The answer with part of its data missing; null if the API has no partial answer here. */
  readonly partial: ((dice: number) => ServedAnswer) | null;
}

const json = "application/json; charset=utf-8";
const html = "text/html; charset=utf-8";

function served(status: number, body: string, contentType: string | null = json): ServedAnswer {
  return { status, body, contentType };
}

/** Envelope of a full answer; `result` is JSON text. */
export function success(result: string): ServedAnswer {
  return served(200, `{"status":"success","statusCode":200,"result":${result}}`);
}

/** Envelope of a partial answer, with empty `errors`; `result` is JSON text. */
export function partialSuccess(result: string): ServedAnswer {
  const body = `{"status":"partial_success","statusCode":503,"result":${result},"errors":{}}`;
  return served(503, body);
}

/** Envelope of a refused request, with the message in `errors.$`. */
export function failure(message: string): ServedAnswer {
  const errors = JSON.stringify({ $: message });
  return served(400, `{"status":"failure","statusCode":400,"errors":${errors}}`);
}

/** JSON without the envelope. */
export function plain(status: number, value: unknown): ServedAnswer {
  return served(status, JSON.stringify(value));
}

/** An answer without a body, such as a refusal of the operations interface. */
export function bodiless(status: number, headers: ServedAnswer["headers"] = {}): ServedAnswer {
  return { ...served(status, "", null), headers };
}

/** Called when a request outside `/_local/` arrives; `subject` is its item or its path. */
export type OnRequest = (endpoint: EndpointName, subject: string) => void;

/** Sends the answers of routes: counts each request, applies faults and latency, and writes. */
export class Responder {
  /** Endpoints with at least one request. Requests below `/_local/` are not counted. */
  readonly #requests: Partial<Record<EndpointName, Counts>> = {};
  readonly #settings: ServiceSettings;
  readonly #clock: Clock;
  readonly #onRequest: OnRequest | undefined;
  readonly #withFaults: ReturnType<typeof faultsOf>;
  readonly #rateLimit: () => number;
  readonly #closing = new AbortController();

  constructor(settings: ServiceSettings, clock: Clock, onRequest?: OnRequest) {
    this.#settings = settings;
    this.#clock = clock;
    this.#onRequest = onRequest;
    this.#withFaults = faultsOf(settings);
    this.#rateLimit = settings.rateLimit ? rateLimit(settings.rateLimit, clock) : () => 0;
    setMaxListeners(0, this.#closing.signal);
  }

  async answer(
    reply: FastifyReply,
    endpoint: EndpointName,
    subject: string,
    answer: RouteAnswer,
  ): Promise<void> {
    this.#arrived(reply, endpoint);
    this.#onRequest?.(endpoint, subject);
    const { apiKey, latency } = this.#settings;
    const isOpen = apiKey === undefined || !callOf(endpoint).isKeyed;
    if (!isOpen && reply.request.headers["x-api-key"] !== apiKey)
      return this.#end(reply, endpoint, plain(403, { message: "Forbidden" }));
    const waitMs = this.#rateLimit();
    if (waitMs > 0) {
      const headers = { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) };
      const answer = { ...plain(429, { message: "Too Many Requests" }), headers };
      return this.#end(reply, endpoint, answer);
    }
    const outcome = this.#withFaults(endpoint, subject, answer);
    if (latency > 0) {
      await this.#clock.sleep(latency, this.#closing.signal).catch(() => undefined);
    }
    this.#end(reply, endpoint, outcome);
  }

  /** Refuses a request that no endpoint answers, without faults or latency. */
  refuse(reply: FastifyReply, answer: ServedAnswer): void {
    this.#arrived(reply, "unknown");
    this.#end(reply, "unknown", answer);
  }

  /** Sends delayed answers at once, and makes each connection close with its answer. */
  close(): void {
    this.#closing.abort();
  }

  /** Body of `GET /_local/stats`. */
  stats() {
    return { requests: structuredClone(this.#requests) };
  }

  #arrived(reply: FastifyReply, endpoint: EndpointName): void {
    const fresh = { path: callOf(endpoint).path, total: 0, outcomes: {} };
    (this.#requests[endpoint] ??= fresh).total += 1;
    reply.hijack();
  }

  #end({ raw }: FastifyReply, endpoint: EndpointName, outcome: ServedOutcome): void {
    const name = outcome === "reset" ? outcome : String(outcome.status);
    const { outcomes } = this.#requests[endpoint]!;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    if (outcome === "reset") return void raw.socket?.resetAndDestroy();
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

/**
 * A token bucket that holds the requests of one window and fills evenly over the window. Takes one
 * request: returns 0 if it is admitted, else the milliseconds until the next may be.
 */
function rateLimit(rate: Rate, clock: Clock): () => number {
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

/** In the order in which a number from 0 to 1 is compared with their rates. */
const faultNames = ["unavailable", "reset", "malformed", "partial"] as const;

/** An answer, or a deliberately broken connection. */
type ServedOutcome = ServedAnswer | "reset";

/**
 * Decides which requests fail. The decision depends only on the seed, the endpoint, the item and
 * the number of failures in a row of that item, so neither the order of requests nor earlier runs
 * change it. A successful answer resets that number.
 *
 * @throws UsageError `fault_rates_invalid`
 */
function faultsOf(settings: ServiceSettings) {
  const sum = faultNames.reduce((all, name) => all + settings[`${name}Rate`], 0);
  if (sum > 1 + Number.EPSILON * 4) {
    throw new UsageError(
      "fault_rates_invalid",
      `the rates of partial, unavailable, reset and malformed answers add up to ${sum}; lower them to a sum of at most 1`,
    );
  }
  const failing = new Map<string, { failures: number; malformed: boolean }>();
  return (endpoint: EndpointName, subject: string, { full, partial }: RouteAnswer) => {
    const key = `${endpoint} ${subject}`;
    const { failures = 0, malformed = false } = failing.get(key) ?? {};
    let rest = seededHash(settings.seed, key, failures) / 2 ** 32;
    const dice = seededHash(settings.seed, key, ~failures);
    const fault = faultNames.find((name) => (rest -= settings[`${name}Rate`]) < 0);
    // A client repeats a malformed answer once and then fails the row, so two never follow each other.
    const isRepeated = fault === "malformed" && malformed && settings.malformedRate < 1;
    if (fault === undefined || isRepeated || (fault === "partial" && partial === null)) {
      failing.delete(key);
      return full();
    }
    failing.set(key, { failures: failures + 1, malformed: malformed || fault === "malformed" });
    const outcomes: Readonly<Record<typeof fault, () => ServedOutcome>> = {
      reset: () => "reset",
      unavailable: () => unavailableAnswers[dice % unavailableAnswers.length]!,
      malformed: () => malformedAnswer(full(), dice),
      partial: () => partial!(dice),
    };
    return outcomes[fault]();
  };
}

/** A 503 from a gateway: JSON, a page or nothing, but never the envelope. */
const unavailableAnswers: readonly ServedAnswer[] = [
  plain(503, { message: "Service Unavailable" }),
  served(503, "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>", html),
  bodiless(503),
];

/** Breaks an answer: 200 with an HTML page, truncated JSON, other JSON, an empty result or no body. */
function malformedAnswer(answer: ServedAnswer, dice: number): ServedAnswer {
  const ways: readonly ServedAnswer[] = [
    served(200, "<html><body><h1>Please sign in to the network</h1></body></html>", html),
    { ...answer, status: 200, body: answer.body.slice(0, answer.body.length / 2) },
    plain(200, { message: "OK" }),
    plain(200, { status: "success", statusCode: 200, result: {} }),
    bodiless(200),
  ];
  return ways[dice % ways.length]!;
}

/** The endpoints that are counted. `unknown` is any other path. */
export type EndpointName = LookupEndpoint | CallName | "unknown";

/** An endpoint's path, as in `/beta/tags/{name}`, and whether the deployed service requires a key for it. */
export function callOf(endpoint: EndpointName): {
  readonly path: string;
  readonly isKeyed: boolean;
} {
  if (endpoint === "unknown") return { path: "*", isKeyed: false };
  if (!(endpoint in calls)) return { path: `/beta/${endpoint}/{item}`, isKeyed: true };
  const { service, path } = calls[endpoint as CallName];
  return service === "intel" ? { path: `/beta${path}`, isKeyed: true } : { path, isKeyed: false };
}

interface Counts {
  readonly path: string;
  /** Requests received. Those without an outcome yet are in flight. */
  total: number;
  /** Requests by HTTP status of the answer, or `reset`: a connection broken on purpose. */
  readonly outcomes: Record<string, number>;
}

import { setMaxListeners } from "node:events";
import type { FastifyReply } from "fastify";
import { madeUpHeaders } from "../client/api/service-description.js";
import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";
import type { ServiceSettings } from "./options.js";
import { seededHash } from "../core/seeded-hash.js";
import { UsageError } from "../core/errors.js";
import { type CallName, calls } from "../client/api/calls.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";

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

/** Envelope of a full answer; `result` is JSON text. */
export function success(result: string): ServedAnswer {
  const body = `{"status":"success","statusCode":200,"result":${result}}`;
  return { status: 200, body, contentType: json };
}

/** Envelope of a partial answer, with empty `errors`; `result` is JSON text. */
export function partialSuccess(result: string): ServedAnswer {
  const body = `{"status":"partial_success","statusCode":503,"result":${result},"errors":{}}`;
  return { status: 503, body, contentType: json };
}

/** Envelope of a refused request, with the message in `errors.$`. */
export function failure(message: string): ServedAnswer {
  const body = `{"status":"failure","statusCode":400,"errors":{"$":${JSON.stringify(message)}}}`;
  return { status: 400, body, contentType: json };
}

/** JSON without the envelope. */
export function plain(status: number, value: unknown): ServedAnswer {
  return { status, body: JSON.stringify(value), contentType: json };
}

function htmlAnswer(status: number, body: string): ServedAnswer {
  return { status, body, contentType: "text/html; charset=utf-8" };
}

/** An answer without a body, such as a refusal of the operations interface. */
export function bodiless(status: number, headers?: Readonly<Record<string, string>>): ServedAnswer {
  return { status, body: "", contentType: null, ...(headers ? { headers } : {}) };
}

/** Called when a request outside `/_local/` arrives; `subject` is its item or its path. */
export type OnRequest = (endpoint: EndpointName, subject: string) => void;

/** Sends the answers of routes: counts each request, applies faults and latency, and writes. */
export class Responder {
  readonly stats = new RequestStats();
  readonly #settings: ServiceSettings;
  readonly #clock: Clock;
  readonly #onRequest: OnRequest | undefined;
  readonly #faults: Faults;
  readonly #rateLimit: () => number;
  readonly #closing = new AbortController();

  constructor(settings: ServiceSettings, clock: Clock, onRequest?: OnRequest) {
    this.#settings = settings;
    this.#clock = clock;
    this.#onRequest = onRequest;
    this.#faults = new Faults(settings);
    this.#rateLimit = settings.rateLimit ? rateLimit(settings.rateLimit, clock) : () => 0;
    setMaxListeners(0, this.#closing.signal);
  }

  async answer(
    reply: FastifyReply,
    endpoint: EndpointName,
    subject: string,
    answer: RouteAnswer,
  ): Promise<void> {
    this.stats.arrived(endpoint);
    this.#onRequest?.(endpoint, subject);
    reply.hijack();
    const { apiKey } = this.#settings;
    const isRefused =
      apiKey !== undefined && isKeyed(endpoint) && reply.request.headers["x-api-key"] !== apiKey;
    if (isRefused) return this.#end(reply, endpoint, plain(403, { message: "Forbidden" }));
    const waitMs = this.#rateLimit();
    if (waitMs > 0) {
      const headers = { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) };
      const answer = { ...plain(429, { message: "Too Many Requests" }), headers };
      return this.#end(reply, endpoint, answer);
    }
    const outcome = this.#faults.answer(endpoint, subject, answer);
    const { latency } = this.#settings;
    if (latency > 0) {
      await this.#clock.sleep(latency, this.#closing.signal).catch(() => undefined);
    }
    this.#end(reply, endpoint, outcome);
  }

  /** Refuses a request that no endpoint answers, without faults or latency. */
  refuse(reply: FastifyReply, answer: ServedAnswer): void {
    this.stats.arrived("unknown");
    reply.hijack();
    this.#end(reply, "unknown", answer);
  }

  /** Sends delayed answers at once, and makes each connection close with its answer. */
  close(): void {
    this.#closing.abort();
  }

  #end(reply: FastifyReply, endpoint: EndpointName, outcome: ServedOutcome): void {
    const { raw } = reply;
    if (outcome === "reset") {
      this.stats.ended(endpoint, "reset");
      raw.socket?.resetAndDestroy();
      return;
    }
    this.stats.ended(endpoint, String(outcome.status));
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

type FaultName = (typeof faultNames)[number];

/** An answer, or a deliberately broken connection. */
type ServedOutcome = ServedAnswer | "reset";

/**
 * Decides which requests fail. The decision depends only on the seed, the endpoint, the item and
 * the number of failures in a row of that item, so neither the order of requests nor earlier runs
 * change it. A successful answer resets that number.
 */
class Faults {
  readonly #settings: ServiceSettings;
  readonly #failing = new Map<string, { failures: number; malformed: boolean }>();

  constructor(settings: ServiceSettings) {
    const sum = faultNames.reduce((all, name) => all + settings[`${name}Rate`], 0);
    if (sum > 1 + Number.EPSILON * 4) {
      throw new UsageError(
        "fault_rates_invalid",
        `the rates of partial, unavailable, reset and malformed answers add up to ${sum}; lower them to a sum of at most 1`,
      );
    }
    this.#settings = settings;
  }

  answer(endpoint: EndpointName, subject: string, { full, partial }: RouteAnswer): ServedOutcome {
    const key = `${endpoint} ${subject}`;
    const { failures = 0, malformed = false } = this.#failing.get(key) ?? {};
    const { seed } = this.#settings;
    const point = seededHash(seed, key, failures) / 2 ** 32;
    const dice = seededHash(seed, key, ~failures);
    const fault = this.#fault(point, partial !== null, malformed);
    if (fault === "none") this.#failing.delete(key);
    else {
      const wasMalformed = malformed || fault === "malformed";
      this.#failing.set(key, { failures: failures + 1, malformed: wasMalformed });
    }
    const outcomes = {
      reset: () => "reset" as const,
      unavailable: () => unavailableAnswers[dice % unavailableAnswers.length]!,
      malformed: () => malformedAnswer(full(), dice),
      partial: () => partial!(dice),
      none: full,
    };
    return outcomes[fault]();
  }

  #fault(point: number, canBePartial: boolean, wasMalformed: boolean): FaultName | "none" {
    let rest = point;
    const fault = faultNames.find((name) => (rest -= this.#settings[`${name}Rate`]) < 0) ?? "none";
    // A client repeats a malformed answer once and then fails the row, so two never follow each other.
    const isRepeated = fault === "malformed" && wasMalformed && this.#settings.malformedRate < 1;
    return isRepeated || (fault === "partial" && !canBePartial) ? "none" : fault;
  }
}

/** A 503 from a gateway: JSON, a page or nothing, but never the envelope. */
const unavailableAnswers: readonly ServedAnswer[] = [
  plain(503, { message: "Service Unavailable" }),
  htmlAnswer(503, "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>"),
  bodiless(503),
];

/** Breaks an answer: 200 with an HTML page, truncated JSON, other JSON, an empty result or no body. */
function malformedAnswer(answer: ServedAnswer, dice: number): ServedAnswer {
  const ways: readonly ServedAnswer[] = [
    htmlAnswer(200, "<html><body><h1>Please sign in to the network</h1></body></html>"),
    { ...answer, status: 200, body: answer.body.slice(0, answer.body.length / 2) },
    plain(200, { message: "OK" }),
    plain(200, { status: "success", statusCode: 200, result: {} }),
    bodiless(200),
  ];
  return ways[dice % ways.length]!;
}

/** The endpoints that are counted. `unknown` is any other path. */
export type EndpointName = LookupEndpoint | CallName | "unknown";

/** An endpoint's path, as in `/beta/tags/{name}`. */
export function callPath(endpoint: EndpointName): string {
  if (endpoint === "unknown") return "*";
  if (!(endpoint in calls)) return `/beta/${endpoint}/{item}`;
  const { service, path } = calls[endpoint as CallName];
  return service === "intel" ? `/beta${path}` : path;
}

/** Whether the deployed service requires a key for an endpoint. */
function isKeyed(endpoint: EndpointName): boolean {
  return (
    lookupEndpoints.some((name) => name === endpoint) ||
    (endpoint in calls && calls[endpoint as CallName].service === "intel")
  );
}

interface Counts {
  readonly path: string;
  /** Requests received. Those without an outcome yet are in flight. */
  total: number;
  /**
   * HTTP status → requests answered with it. `reset`: connection broken on purpose.
   */
  readonly outcomes: Record<string, number>;
}

/** Counts each request on arrival, and its outcome once known. */
export class RequestStats {
  /** Endpoints with at least one request. Requests below `/_local/` are not counted. */
  readonly #requests: Partial<Record<EndpointName, Counts>> = {};

  arrived(endpoint: EndpointName): void {
    const fresh = { path: callPath(endpoint), total: 0, outcomes: {} };
    (this.#requests[endpoint] ??= fresh).total += 1;
  }

  ended(endpoint: EndpointName, outcome: string): void {
    const { outcomes } = this.#requests[endpoint]!;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }

  /** Body of `GET /_local/stats`. */
  snapshot() {
    return { requests: structuredClone(this.#requests) };
  }
}

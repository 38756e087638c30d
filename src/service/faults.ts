import { UsageError } from "../core/errors.js";
import { htmlAnswer, plain, type RouteAnswer, type ServedAnswer } from "./served-answer.js";
import type { ServiceSettings } from "./options.js";
import { seededHash } from "./seeded-hash.js";
import type { EndpointName } from "./stats.js";

/** The fault for one request. `dice` are 32 more random bits, equal for equal requests. */
interface FaultDraw {
  readonly kind: "none" | "partial" | "unavailable" | "reset" | "malformed";
  readonly dice: number;
}

/** An answer, or a deliberately broken connection. */
export type ServedOutcome = ServedAnswer | "reset";

/** Probabilities of the faults, each from 0 to 1, with a sum of at most 1. */
type FaultRates = Pick<
  ServiceSettings,
  "partialRate" | "unavailableRate" | "resetRate" | "malformedRate"
>;

/**
 * Decides which requests fail. The decision depends only on the seed, the endpoint, the item and
 * the number of failures in a row of that item, so neither the order of requests nor earlier runs
 * change it. A successful answer resets that number.
 */
export class Faults {
  readonly #rates: FaultRates;
  readonly #seed: number;
  readonly #failing = new Map<string, { failures: number; malformed: boolean }>();

  constructor(rates: FaultRates, seed: number) {
    const sum = rates.partialRate + rates.unavailableRate + rates.resetRate + rates.malformedRate;
    if (sum > 1 + Number.EPSILON * 4) {
      throw new UsageError(
        "fault_rates_invalid",
        `the rates of partial, unavailable, reset and malformed answers add up to ${sum}; lower them to a sum of at most 1`,
      );
    }
    this.#rates = rates;
    this.#seed = seed;
  }

  /** How a request is answered, and by what fault. */
  answer(
    endpoint: EndpointName,
    subject: string,
    answer: RouteAnswer,
  ): { readonly fault: FaultDraw["kind"]; readonly outcome: ServedOutcome } {
    const draw = this.#draw(endpoint, subject, answer.partial !== null);
    return { fault: draw.kind, outcome: outcomeOf(draw, answer) };
  }

  #draw(endpoint: EndpointName, subject: string, canBePartial: boolean): FaultDraw {
    const key = `${endpoint} ${subject}`;
    const earlier = this.#failing.get(key);
    const failures = earlier?.failures ?? 0;
    const hash = seededHash(this.#seed, key, failures);
    const dice = seededHash(this.#seed, key, ~failures);
    const kind = this.#kind(hash / 2 ** 32, canBePartial, earlier?.malformed ?? false);
    if (kind === "none") {
      if (earlier) this.#failing.delete(key);
    } else {
      const malformed = (earlier?.malformed ?? false) || kind === "malformed";
      this.#failing.set(key, { failures: failures + 1, malformed });
    }
    return { kind, dice };
  }

  #kind(point: number, canBePartial: boolean, wasMalformed: boolean): FaultDraw["kind"] {
    const { partialRate, unavailableRate, resetRate, malformedRate } = this.#rates;
    let rest = point - unavailableRate;
    if (rest < 0) return "unavailable";
    rest -= resetRate;
    if (rest < 0) return "reset";
    rest -= malformedRate;
    // A client repeats a malformed answer once and then fails the row, so do not break two in a
    // row.
    if (rest < 0) return wasMalformed && malformedRate < 1 ? "none" : "malformed";
    return canBePartial && rest < partialRate ? "partial" : "none";
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

const unavailableAnswers: readonly ServedAnswer[] = [
  plain(503, { message: "Service Unavailable" }),
  htmlAnswer(503, "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>"),
  { status: 503, body: "", contentType: null },
];

/** A 503 from a gateway: JSON, a page or nothing, but never the envelope. */
function unavailableAnswer(dice: number): ServedAnswer {
  return unavailableAnswers[dice % unavailableAnswers.length] as ServedAnswer;
}

/**
 * Breaks an answer: 200 with an HTML page, truncated JSON, other JSON, an empty result or no body.
 */
function malformedAnswer(answer: ServedAnswer, dice: number): ServedAnswer {
  switch (dice % 5) {
    case 0:
      return htmlAnswer(200, "<html><body><h1>Please sign in to the network</h1></body></html>");
    case 1:
      return { ...answer, status: 200, body: answer.body.slice(0, answer.body.length / 2) };
    case 2:
      return plain(200, { message: "OK" });
    case 3:
      return plain(200, { status: "success", statusCode: 200, result: {} });
    default:
      return { status: 200, body: "", contentType: null };
  }
}

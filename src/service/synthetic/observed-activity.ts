import type { ObservedActivity } from "../../api/schema/query-result.js";
import { type Draw, questions, partOf, type Span, wholeSeconds } from "./draw.js";

const services = ["ssh", "rdp", "smtp", "http", "telnet"] as const;
const maxObservations = 20;

/** What invented honeypots and spam traps saw within a span; nothing without one. */
export function observedActivity(span: Span | null, draw: Draw): ObservedActivity {
  const seenByHoneypots = span !== null && draw.share(questions.honeypot) < 0.8;
  const seenBySpamtraps = span !== null && draw.share(questions.spamtrap) < 0.3;
  return {
    honeypotInteractions: seenByHoneypots
      ? interactions(span, draw, questions.honeypot, (question) => ({
          service: draw.pick(services, question + 2, 1.8),
          type: "connection",
        }))
      : nothing,
    spamtrapInteractions: seenBySpamtraps
      ? interactions(span, draw, questions.spamtrap, () => ({ type: "mail" }))
      : nothing,
  };
}

const nothing = { firstSeen: null, lastSeen: null, observations: [] };

/** Few have many observations. */
function interactions<Facts extends object>(
  span: Span,
  draw: Draw,
  kind: number,
  factsOf: (question: number) => Facts,
) {
  const around = partOf(span, draw, questions.observation * kind);
  const count = 1 + Math.floor(draw.share(questions.observation + kind) ** 3 * maxObservations);
  const observations = Array.from({ length: count }, (_, index) => {
    const question = questions.observation * (kind + 100) + 3 * index;
    const { first, last } = partOf(around, draw, question);
    return { firstSeen: wholeSeconds(first), lastSeen: wholeSeconds(last), ...factsOf(question) };
  });
  return {
    firstSeen: wholeSeconds(around.first),
    lastSeen: wholeSeconds(around.last),
    observations,
  };
}
